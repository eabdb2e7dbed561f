#pragma once

#include <algorithm>
#include <cstdint>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/fixed_window.h"
#include "core/judging.h"
#include "core/quota.h"
#include "core/wide.h"

// The fixed window of envoyproxy/ratelimit: every hit is counted, also the one that is denied.
//
// The problem: users who move from that service expect the same decisions. There a request adds its
// hits to the window's counter first (INCRBY) and is judged by the sum. So one that overshoots uses
// up what was left of the window, and a counter may stand far above its limit; a request of 0 hits
// is denied while it does.
//
// The idea: FixedWindow with an unreachable limit does the counting, with the same handling of
// clocks and window edges; only the judging differs:
//
//   after = used + cost;  allowed iff after <= limit
//
// Corner cases:
// - `remaining` of a denial is what was left *before* it, so that who reports what was counted can
//   tell the part of the cost that still fitted; after it nothing is left.
// - `reset_after` is always the time to the window's end, 0 < reset_after <= window, also of a key
//   never seen.
// - A counter that would pass kMaxUnits stays where it is, which is above any limit.
// - A denial is charged: what is stored is on_allow in either case (ChargesDenials()).
// Among several
//   checks that are all or nothing it is not, as nothing is.
//
// Source: envoyproxy/ratelimit, src/redis/fixed_cache_impl.go and src/limiter/base_limiter.go, by
// their behaviour.
namespace sluice::core {

// The verdict of `cost` more in a window that stood at `before` and ends in `until_end`.
// `remaining` is what was left before. Also for counters that are not kept here, but in a Redis.
[[nodiscard]] inline Decision JudgeAttemptWindow(const Quota& quota, Units before, Cost cost,
                                                 Duration until_end) {
  Decision decision;
  decision.allowed = before + cost.units <= quota.limit;
  decision.limit = quota.limit;
  decision.remaining = std::max<Units>(quota.limit - before, 0);
  decision.reset_after = until_end;
  decision.reason = decision.allowed ? Reason::kNone : Reason::kQuotaExceeded;
  decision.retry_after = decision.allowed ? Duration{} : until_end;
  return decision;
}

// Pure and static, as FixedWindow.
template <class Clock>
class AttemptWindow {
 public:
  static constexpr const AlgorithmTraits& kTraits = TraitsOf(Algorithm::kAttemptWindow);
  using Instant = BasicInstant<Clock>;
  using Now = BasicNow<Clock>;
  using State = typename FixedWindow<Clock>::State;

  [[nodiscard]] static Outcome<State> Check(const Quota& quota, const State& state, const Now& now,
                                            Cost cost) {
    const Quota counting = WithoutLimit(quota);
    Outcome<State> outcome = FixedWindow<Clock>::Check(counting, state, now, cost);
    const bool counted = outcome.decision.allowed;
    const Units after = kMaxUnits - outcome.decision.remaining;
    Judge(quota, now, counted ? after - cost.units : after, cost, outcome.decision);
    if (outcome.decision.allowed) {
      outcome.decision.remaining -= cost.units;
    }
    return outcome;
  }

  // The verdict of a check of `cost`; `remaining` of now.
  [[nodiscard]] static Outcome<State> Peek(const Quota& quota, const State& state, const Now& now,
                                           Cost cost) {
    Outcome<State> outcome =
        FixedWindow<Clock>::Peek(WithoutLimit(quota), state, now, Cost{.units = 0});
    Judge(quota, now, kMaxUnits - outcome.decision.remaining, cost, outcome.decision);
    return outcome;
  }

  // Takes hits back, never below none.
  [[nodiscard]] static State Refund(const Quota& quota, const State& state, const Now& now,
                                    Units units) {
    return FixedWindow<Clock>::Refund(WithoutLimit(quota), state, now, units);
  }
  [[nodiscard]] static Instant Expiry(const Quota& quota, const State& state) {
    return FixedWindow<Clock>::Expiry(quota, state);
  }

 private:
  static Quota WithoutLimit(Quota quota) {
    quota.algorithm = Algorithm::kFixedWindow;
    quota.limit = kMaxUnits;
    return quota;
  }

  // `decision`: the fixed window's.
  static void Judge(const Quota& quota, const Now& now, Units before, Cost cost,
                    Decision& decision) {
    Duration until_end = decision.reset_after;
    if (until_end == Duration{}) {
      const std::int64_t wall_clock = now.wall_clock.time_since_epoch().count();
      until_end = quota.window - Duration(PastMultiple(wall_clock, quota.window.count()));
    }
    decision = JudgeAttemptWindow(quota, before, cost, until_end);
  }
};

}  // namespace sluice::core
