#include "core/fixed_window.h"

#include <algorithm>

#include "core/calendar.h"
#include "core/judging.h"
#include "core/wide.h"

// The fixed window: count what passes in each minute, day or month, and start again at 0.
//
// The problem: quotas that people know by the calendar. "10,000 a month, renewed on the
// 15th" or "60 per clock hour" must turn over when the clock says so, for everyone at once.
//
// The idea: one count and the end of its window. When the window is over the count is
// worth nothing, so nothing has to be reset.
//
// Corner cases:
// - Two windows meet: a caller may spend the limit just before the edge and again just
//   after, twice the limit within any span shorter than a window. That is the price of
//   alignment; a sliding window does not pay it.
// - Which clock? The wall clock sets the edges, but it can be set. So a window has two ends, one
//   on the wall clock and one on the monotonic clock. The earlier one ends it. If the wall clock
//   is set forward, a new window begins. If it is set back, the window does not grow longer, and
//   it is not granted anew.
// - If the wall clock reads earlier than the window's beginning, it is still the same window.
// - Days are as long as they are: 23 or 25 hours when summer time changes. The calendar
//   knows; nothing here multiplies days by 24 hours.
//
// Sources: AWS API Gateway usage plans (quota per day, week, month); GitHub REST API
// (hourly windows with a reset time); billing periods with an anchor day.
namespace sluice::core {

namespace {

// A state brought to where it is judged.
template <class State>
struct Seen {
  State state;  // As stored, its time moved if a shared store's clock stepped back.
  std::int64_t now = 0;
  Units used = 0;
  std::int64_t left = 0;  // Of the window that runs; 0 for a fresh key.
};

template <class Clock, class State>
Seen<State> See(const State& state, const BasicNow<Clock>& now) {
  const std::int64_t monotonic = now.monotonic.time_since_epoch().count();
  const std::int64_t wall_clock = now.wall_clock.time_since_epoch().count();
  Seen<State> seen{.state = state, .now = monotonic};
  if (state.used == 0) {
    return seen;
  }
  const TimeReading reading = ReadTime<Clock>(monotonic, state.touched_ns);
  seen.now = reading.now;
  if (reading.back != 0) {
    // The end on the wall clock stays: it is a point in civil time, not a distance.
    seen.state.touched_ns = reading.now;
    seen.state.end_monotonic_ns = Minus(state.end_monotonic_ns, reading.back);
  }
  seen.left = std::min(Until(seen.now, seen.state.end_monotonic_ns),
                       Until(wall_clock, seen.state.end_wall_clock_ns));
  seen.used = seen.left == 0 ? 0 : state.used;
  return seen;
}

std::int64_t EndOnWallClock(const Quota& quota, WallInstant wall_clock) {
  if (quota.calendar != nullptr) {
    return quota.calendar->At(wall_clock).end.time_since_epoch().count();
  }
  const std::int64_t at = wall_clock.time_since_epoch().count();
  const std::int64_t window = quota.window.count();
  return Plus(at, window - PastMultiple(at, window));
}

template <class State>
State Charged(const Quota& quota, const Seen<State>& seen, WallInstant wall_clock, Cost cost) {
  State state = seen.state;
  if (seen.used == 0) {
    state.end_wall_clock_ns = EndOnWallClock(quota, wall_clock);
    state.end_monotonic_ns =
        Plus(seen.now, Until(wall_clock.time_since_epoch().count(), state.end_wall_clock_ns));
  }
  state.used = seen.used + cost.units;
  state.touched_ns = seen.now;
  return state;
}

template <class Clock>
Outcome<typename FixedWindow<Clock>::State> Judge(const Quota& quota,
                                                  const typename FixedWindow<Clock>::State& state,
                                                  const BasicNow<Clock>& now, Cost cost,
                                                  Verb verb) {
  using State = typename FixedWindow<Clock>::State;
  if (quota.unlimited) {
    return {UnlimitedDecision(), state, state};
  }
  const Seen<State> seen = See<Clock>(state, now);
  Outcome<State> outcome{.decision = {}, .on_allow = seen.state, .on_deny = seen.state};
  Decision& decision = outcome.decision;
  decision.limit = quota.limit;
  decision.remaining = std::max<Units>(quota.limit - seen.used, 0);
  decision.reset_after = Duration(seen.left);

  const Reason never = ReasonForNever(quota.limit, cost);
  if (never != Reason::kNone) {
    Deny(decision, never, Decision::kNever);
  } else if (cost.units > decision.remaining) {
    Deny(decision, Reason::kQuotaExceeded, Duration(seen.left));
  } else {
    decision.allowed = true;
    if (verb == Verb::kCheck && cost.units > 0) {
      outcome.on_allow = Charged(quota, seen, now.wall_clock, cost);
      decision.remaining -= cost.units;
      if (seen.used == 0) {
        decision.reset_after = Duration(Until(seen.now, outcome.on_allow.end_monotonic_ns));
      }
    }
  }
  return outcome;
}

}  // namespace

template <class Clock>
Outcome<typename FixedWindow<Clock>::State> FixedWindow<Clock>::Check(const Quota& quota,
                                                                      const State& state,
                                                                      const Now& now, Cost cost) {
  return Judge<Clock>(quota, state, now, cost, Verb::kCheck);
}

template <class Clock>
Outcome<typename FixedWindow<Clock>::State> FixedWindow<Clock>::Peek(const Quota& quota,
                                                                     const State& state,
                                                                     const Now& now, Cost cost) {
  return Judge<Clock>(quota, state, now, cost, Verb::kPeek);
}

template <class Clock>
typename FixedWindow<Clock>::State FixedWindow<Clock>::Refund(const Quota& quota,
                                                              const State& state, const Now& now,
                                                              Units units) {
  if (quota.unlimited) {
    return state;
  }
  const Seen<State> seen = See<Clock>(state, now);
  if (seen.used <= units) {
    return State{};
  }
  State refunded = seen.state;
  refunded.used -= units;
  if (units > 0) {
    refunded.touched_ns = seen.now;
  }
  return refunded;
}

template <class Clock>
typename FixedWindow<Clock>::Instant FixedWindow<Clock>::Expiry(const Quota& /*quota*/,
                                                                const State& state) {
  return Instant(Duration(state.used == 0 ? 0 : state.end_monotonic_ns));
}

template class FixedWindow<TableClock>;
template class FixedWindow<StoreClock>;

}  // namespace sluice::core
