#pragma once

#include <cstdint>

namespace sluice::support {

// How often this thread has called operator new since it started. Linking
// sluice_counted_new replaces operator new for the whole program.
[[nodiscard]] std::int64_t AllocationsOfThisThread();

}  // namespace sluice::support
