#pragma once

#include <chrono>
#include <cstdint>

#include "sluice/time.h"

namespace sluice::base {

// One reading of the machine's clocks. `boot` is CLOCK_BOOTTIME: it goes on through
// suspend and never steps. `wall_clock` is CLOCK_REALTIME.
struct ClockReading {
  Duration boot{};
  WallInstant wall_clock{};
};

// Where time comes from. Injected, so that tests and replay own it. Implementations are
// safe to read from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual ClockReading Read() const = 0;
};

// The kernel's clocks, through the vDSO: about 20 ns a reading.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] ClockReading Read() const override;
};

// The steady clock as it stood at the kernel's last tick: up to 10 ms behind, never ahead, at
// an eighth of the cost of a reading. For what is counted in seconds: time limits of clients,
// the second that a date names. Not for deciding. Any thread.
[[nodiscard]] std::chrono::steady_clock::time_point CoarseSteadyNow();

}  // namespace sluice::base
