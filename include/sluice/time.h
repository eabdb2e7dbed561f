#pragma once

#include <chrono>

namespace sluice {

// Signed 64-bit nanoseconds: 292 years either way.
using Duration = std::chrono::nanoseconds;

// Instants of different clocks must never meet in one subtraction. The tag makes that a compile
// error.

// The monotonic clock of an embedded table. It starts at the wall clock's reading when the
// table is made. It only goes forward, even if the wall clock is set back.
struct TableClock {
  static constexpr bool kMayStepBack = false;
};
// A shared store's clock (Redis TIME). A failover to a slower clock steps it back.
struct StoreClock {
  static constexpr bool kMayStepBack = true;
};
// The wall clock, civil time: nanoseconds since 1970-01-01T00:00:00Z. Steps both ways.
struct WallClock {
  static constexpr bool kMayStepBack = true;
};

template <class Clock>
struct ClockTag {
  using duration = Duration;
  using rep = Duration::rep;
  using period = Duration::period;
  static constexpr bool is_steady = true;
};

template <class Clock>
using BasicInstant = std::chrono::time_point<ClockTag<Clock>, Duration>;

using TableInstant = BasicInstant<TableClock>;
using StoreInstant = BasicInstant<StoreClock>;
using WallInstant = BasicInstant<WallClock>;

// One reading of a store's clocks, taken once per batch by the owner of the state.
// `monotonic` measures elapsed time; `wall_clock` says where calendar and epoch-aligned
// windows begin and end. On a StoreClock both hold the same number.
template <class Clock>
struct BasicNow {
  BasicInstant<Clock> monotonic{};
  WallInstant wall_clock{};
};

using TableNow = BasicNow<TableClock>;
using StoreNow = BasicNow<StoreClock>;

}  // namespace sluice
