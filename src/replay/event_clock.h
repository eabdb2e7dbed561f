#pragma once

#include <algorithm>

#include "sluice/time.h"

#include "base/clock.h"

namespace sluice::replay {

// The clock of a replay: the wall is what the event at hand says, and elapsed time is what
// the stamps advanced by. A stamp earlier than the one before is a clock that steps back:
// no time has passed, and it passes again from there. One thread.
class EventClock final : public base::Clock {
 public:
  [[nodiscard]] base::ClockReading Read() const override { return now_; }

  // The next event happens at `stamp`.
  void MoveTo(WallInstant stamp) {
    now_.boot += std::max(stamp - now_.wall, Duration{});
    now_.wall = stamp;
  }
  // Where it was, for an event that turned out to be none; or where it begins.
  void SetTo(const base::ClockReading& reading) { now_ = reading; }

 private:
  base::ClockReading now_;
};

}  // namespace sluice::replay
