#include "base/clock.h"

#include <ctime>

namespace sluice::base {

namespace {

Duration ReadKernel(clockid_t id) {
  timespec ts{};
  clock_gettime(id, &ts);
  return std::chrono::seconds(ts.tv_sec) + Duration(ts.tv_nsec);
}

}  // namespace

ClockReading SystemClock::Read() const {
  return {.boot = ReadKernel(CLOCK_BOOTTIME),
          .wall_clock = WallInstant(ReadKernel(CLOCK_REALTIME))};
}

std::chrono::steady_clock::time_point CoarseSteadyNow() {
  timespec ts{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
  return std::chrono::steady_clock::time_point(std::chrono::seconds(ts.tv_sec) +
                                               std::chrono::nanoseconds(ts.tv_nsec));
}

}  // namespace sluice::base
