#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "sluice/time.h"

#include "base/clock.h"

namespace sluice::store {

using BootId = std::array<std::uint8_t, 16>;

// The part of a table's time line that is kept beside its state.
struct LineRecord {
  BootId boot_id{};
  std::atomic<std::int64_t> offset_ns{0};  // line = CLOCK_BOOTTIME + offset.
  // A time that was given out, and the wall at that time: a pair, noted once a tick (1 ms).
  std::atomic<std::int64_t> last_line_ns{0};
  std::atomic<std::int64_t> last_wall_ns{0};
};

// A table's line of elapsed time. It starts at the wall's reading when the table is made,
// runs with CLOCK_BOOTTIME, and goes only forward: steps of the wall do not touch it, and after
// a reboot it resumes at the last time plus what the wall says has passed since, if anything.
//
// The offset is set when the table is opened and never again: CLOCK_BOOTTIME does not step while a
// machine runs. A reading that is older than the line was taken by a thread that another one
// overtook. The thread gets the later of the two times, and nothing moves: an old reading must not
// push the clock ahead of real time, because that would grant units.
//
// Safe from any thread; waits for none.
class TimeLine {
 public:
  // `record` is all zero for a new table, else what a table left behind. Where the boot clock
  // reads earlier than the line although the boot is the same (another time namespace, a
  // restored machine), the line goes on from where it was.
  TimeLine(LineRecord& record, const base::ClockReading& now, const BootId& boot_id, bool is_new);

  // The time on the line at `reading`: never before the reading, never after the latest
  // reading that any thread has handed in.
  [[nodiscard]] TableNow Now(const base::ClockReading& reading);

 private:
  void Note(std::int64_t line, WallInstant wall);

  LineRecord* record_;
  std::atomic_flag noting_;
};

// The kernel's id of this boot; all zero where it has none.
[[nodiscard]] BootId CurrentBootId();

}  // namespace sluice::store
