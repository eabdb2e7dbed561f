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

}  // namespace sluice::base
