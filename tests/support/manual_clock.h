#pragma once

#include <atomic>
#include <cstdint>

#include "sluice/time.h"

#include "base/clock.h"

namespace sluice::support {

// A clock that a test owns. Starts at 2023-11-14T00:00:00Z, an hour after boot. Advancing moves
// both readings; the wall clock alone can be stepped. Safe to read from any thread.
class ManualClock final : public base::Clock {
 public:
  static constexpr std::int64_t kStartNs = 1'699'920'000'000'000'000;

  [[nodiscard]] base::ClockReading Read() const override {
    return {.boot = Duration(boot_ns_.load(std::memory_order_relaxed)),
            .wall_clock = WallInstant(Duration(wall_clock_ns_.load(std::memory_order_relaxed)))};
  }
  void Advance(Duration by) {
    boot_ns_ += by.count();
    wall_clock_ns_ += by.count();
  }
  void StepWallClock(Duration by) { wall_clock_ns_ += by.count(); }
  void StepBoot(Duration by) { boot_ns_ += by.count(); }

 private:
  std::atomic<std::int64_t> boot_ns_{3'600'000'000'000};
  std::atomic<std::int64_t> wall_clock_ns_{kStartNs};
};

}  // namespace sluice::support
