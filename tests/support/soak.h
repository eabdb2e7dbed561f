#pragma once

#include <cstdint>
#include <cstdlib>

namespace sluice::support {

// SLUICE_SOAK=n makes a search n times as long: `make soak`. 1 where it is not set or no number.
inline std::uint64_t SoakFactor() {
  const char* const text = std::getenv("SLUICE_SOAK");  // NOLINT(concurrency-mt-unsafe)
  const std::uint64_t factor = text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
  return factor == 0 ? 1 : factor;
}

}  // namespace sluice::support
