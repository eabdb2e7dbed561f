#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "sluice/time.h"

#include "base/clock.h"

namespace sluice::store {

using BootId = std::array<std::uint8_t, 16>;

// The part of a table's monotonic clock that is kept beside its state.
struct ClockRecord {
  BootId boot_id{};
  std::atomic<std::int64_t> offset_ns{0};  // The clock reads CLOCK_BOOTTIME + offset.
  // A time that the clock has returned, and the wall clock then: a pair, noted once a tick (1 ms).
  std::atomic<std::int64_t> last_monotonic_ns{0};
  std::atomic<std::int64_t> last_wall_clock_ns{0};
};

// A table's monotonic clock. It starts at the wall clock's reading when the table is made, runs
// with CLOCK_BOOTTIME, and only goes forward. Steps of the wall clock do not change it. After a
// reboot it resumes at its last time plus the time that has passed on the wall clock, if any.
//
// The offset is set when the table is opened and never again: CLOCK_BOOTTIME does not step while a
// machine runs. A reading that is older than the last time was taken by a thread that another one
// overtook. The thread gets the later of the two times, and nothing moves: an old reading must not
// push the clock ahead of real time, because that would grant units.
//
// Safe from any thread; waits for none.
class MonotonicClock {
 public:
  // `record` is all zero for a new table, else what a table left behind. Where the boot clock
  // reads earlier than the last time although the boot is the same (another time namespace, a
  // restored machine), the clock goes on from its last time.
  MonotonicClock(ClockRecord& record, const base::ClockReading& now, const BootId& boot_id,
                 bool is_new);

  // The time at `reading`: never before the reading, never after the latest
  // reading that any thread has handed in.
  [[nodiscard]] TableNow Now(const base::ClockReading& reading);

  // How often the wall clock has moved by more than half a second against the boot clock, forward
  // or back, since this was made.
  [[nodiscard]] std::uint64_t wall_clock_steps() const {
    return wall_clock_steps_.load(std::memory_order_relaxed);
  }

 private:
  void Note(std::int64_t monotonic, WallInstant wall_clock);

  ClockRecord* record_;
  std::atomic_flag noting_;
  bool has_noted_ = false;  // Behind noting_.
  std::atomic<std::uint64_t> wall_clock_steps_{0};
};

// The kernel's id of this boot; all zero where it has none.
[[nodiscard]] BootId CurrentBootId();

}  // namespace sluice::store
