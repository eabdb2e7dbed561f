#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace sluice::net {

using SteadyTime = std::chrono::steady_clock::time_point;

class TimerWheel;

// Something to be done once, at a time. Its owner makes it once and arms it as often as it
// likes, without allocation. Destroying it disarms it. Does not move.
class Timer {
 public:
  explicit Timer(std::function<void()> action) : action_(std::move(action)) {}
  ~Timer() { Cancel(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  [[nodiscard]] bool armed() const { return wheel_ != nullptr; }
  void Cancel();

 private:
  friend class TimerWheel;
  std::function<void()> action_;
  TimerWheel* wheel_ = nullptr;
  Timer* next_ = nullptr;
  Timer** link_ = nullptr;  // What points at this.
  std::uint64_t tick_ = 0;  // When it is due.
  int slot_ = 0;            // -1 while its slot is being run.
};

// What time is counted in: an exact timer comes up to a step late.
inline constexpr std::chrono::milliseconds kTimerStep{1};

// kExact: within a step or so. kCoarse: up to 64 ms late, so that a thousand
// connections' deadlines share a wake-up. Neither ever fires early.
enum class TimerPrecision : std::uint8_t { kExact, kCoarse };

// All timers of one loop, in one hierarchical wheel (Varghese and Lauck, 1987): arming and
// disarming are O(1), and asking the kernel for one timer per request (2 to 3 us each) is avoided.
// Five levels of 64 slots at 1 ms: 12 days ahead; what is further off is looked at again then. Sans
// I/O: the time is an argument. One thread.
class TimerWheel {
 public:
  explicit TimerWheel(SteadyTime start);
  ~TimerWheel();
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  // Replaces what the timer was armed for. A time that has passed: at the next Advance().
  void Arm(Timer& timer, SteadyTime when, TimerPrecision precision);

  // Runs what is due by `now`, in order of ticks. Actions may arm, cancel and destroy timers,
  // their own included; what they arm for a time already due runs a tick later.
  // A `now` before the last one does nothing.
  void Advance(SteadyTime now);

  // By when Advance() should be called next; may be early for far timers. None: no timers.
  [[nodiscard]] std::optional<SteadyTime> NextWake() const;

  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  friend class Timer;
  static constexpr int kLevels = 5;
  static constexpr int kBits = 6;
  static constexpr int kSlots = 1 << kBits;

  struct Stop {
    std::uint64_t tick;
    int slot;
  };

  void Link(Timer& timer);
  void Unlink(Timer& timer);
  [[nodiscard]] std::optional<Stop> NextStop() const;
  void RunSlot(int slot);

  SteadyTime start_;
  std::uint64_t tick_ = 0;  // All timers due at or before it have run.
  std::size_t size_ = 0;
  std::array<Timer*, static_cast<std::size_t>(kLevels) * kSlots> slots_{};
  std::array<std::uint64_t, kLevels> used_{};  // A bit per slot that holds a timer.
};

}  // namespace sluice::net
