#include "base/coarse_clock.h"

#include <ctime>

namespace sluice::base {

std::chrono::steady_clock::time_point CoarseSteadyNow() {
  timespec ts{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
  return std::chrono::steady_clock::time_point(std::chrono::seconds(ts.tv_sec) +
                                               std::chrono::nanoseconds(ts.tv_nsec));
}

}  // namespace sluice::base
