#pragma once

#include <chrono>

namespace sluice {

// Signed 64-bit nanoseconds: 292 years either way.
using Duration = std::chrono::nanoseconds;

// Timelines that must never meet in one subtraction. The tag makes that a compile
// error: an instant read from one clock is no instant of another.

// The embedded table's own line of elapsed time. It starts at the wall clock's
// reading when the table is made and only ever goes forward, whatever the wall does.
struct TableTimeline {
  static constexpr bool kMayStepBack = false;
};
// A shared store's clock (Redis TIME). A failover to a slower clock steps it back.
struct StoreTimeline {
  static constexpr bool kMayStepBack = true;
};
// Civil time: nanoseconds since 1970-01-01T00:00:00Z. Steps both ways.
struct WallTimeline {
  static constexpr bool kMayStepBack = true;
};

template <class Timeline>
struct TimelineTag {
  using duration = Duration;
  using rep = Duration::rep;
  using period = Duration::period;
  static constexpr bool is_steady = true;
};

template <class Timeline>
using BasicInstant = std::chrono::time_point<TimelineTag<Timeline>, Duration>;

using TableInstant = BasicInstant<TableTimeline>;
using StoreInstant = BasicInstant<StoreTimeline>;
using WallInstant = BasicInstant<WallTimeline>;

// One reading of a store's clocks, taken once per batch by the owner of the state.
// `line` measures elapsed time; `wall` says where calendar and epoch-aligned windows
// begin and end. On a StoreTimeline both hold the same number.
template <class Timeline>
struct BasicNow {
  BasicInstant<Timeline> line{};
  WallInstant wall{};
};

using TableNow = BasicNow<TableTimeline>;
using StoreNow = BasicNow<StoreTimeline>;

}  // namespace sluice
