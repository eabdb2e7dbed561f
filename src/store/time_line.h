#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "sluice/time.h"

#include "base/clock.h"

namespace sluice::store {

using BootId = std::array<std::uint8_t, 16>;

// The part of a table's time line that is kept beside its state.
struct LineRecord {
  BootId boot_id{};
  std::atomic<std::int64_t> offset_ns{0};     // line = CLOCK_BOOTTIME + offset.
  std::atomic<std::int64_t> last_line_ns{0};  // At most a tick behind what was ever given out.
  std::atomic<std::int64_t> last_wall_ns{0};
};

// A table's line of elapsed time. It starts at the wall's reading when the table is made,
// runs with CLOCK_BOOTTIME, and goes only forward: steps of the wall do not touch it, a boot
// clock that steps back counts as no time passed and goes on from there, and after a reboot
// it resumes at the last time plus what the wall says has passed since, if anything.
//
// Two threads may hand in readings in the other order than they took them; that looks like a
// step back of less than a tick (1 ms) and is taken for no more than that: it answers the
// latest tick and moves nothing. Safe from any thread.
class TimeLine {
 public:
  // `record` is all zero for a new table, else what a table left behind.
  TimeLine(LineRecord& record, const base::ClockReading& now, const BootId& boot_id, bool is_new);

  [[nodiscard]] TableNow Now(const base::ClockReading& reading);

 private:
  TableInstant StepBack(const base::ClockReading& reading);

  LineRecord* record_;
  std::mutex stepping_;
};

// The kernel's id of this boot; all zero where it has none.
[[nodiscard]] BootId CurrentBootId();

}  // namespace sluice::store
