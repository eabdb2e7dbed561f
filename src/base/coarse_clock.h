#pragma once

#include <chrono>

namespace sluice::base {

// The steady clock as it stood at the kernel's last tick: up to 10 ms behind, never ahead, at
// an eighth of the cost of a reading. For what is counted in seconds: time limits of clients,
// the second that a date names. Not for deciding. Any thread.
[[nodiscard]] std::chrono::steady_clock::time_point CoarseSteadyNow();

}  // namespace sluice::base
