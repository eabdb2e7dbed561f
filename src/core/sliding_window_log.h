#pragma once

#include <algorithm>
#include <cstdint>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/judging.h"
#include "core/quota.h"
#include "core/wide.h"

namespace sluice::core {

// The sliding window log: remember when each unit passed, and count those of the last W.
//
// The problem: "never more than N in any hour", meant literally. Every scheme that
// remembers less than the log must guess.
//
// The idea: one entry (time, units) for each admitted request in (now - W, now]. A request
// passes if what they hold plus its cost is within the limit. An entry from t stops
// counting at exactly t + W.
//
// Corner cases:
// - Requests of the same instant share an entry whose units add up. Sorted sets whose
//   member is the timestamp keep only one of them, which is how such logs undercount.
// - Denials leave no entry. Logs that record them too lock out clients that keep sending requests.
// - How long to wait: give back the oldest entries until the cost fits; the wait ends when
//   the last of those turns W old.
// - Memory grows with what passed, never with the limit.
//
// Being right by inspection, a plain log is the oracle for its cheaper cousins.
//
// Sources: Figma, "An alternative approach to rate limiting", 2017; Redis documentation,
// "Rate limiting with sorted sets"; peterkhayes/rolling-rate-limiter issue 11 (the undercount).
//
// Steps are pure and static, as in bucket.h; `list` holds the entries that `state` sums up.
template <class Clock>
class SlidingWindowLog {
 public:
  static constexpr const AlgorithmTraits& kTraits = TraitsOf(Algorithm::kSlidingWindowLog);
  using Instant = BasicInstant<Clock>;
  using Now = BasicNow<Clock>;

  // All zero is a fresh key.
  struct State {
    Units used = 0;              // Units in all entries, expired ones not yet dropped included.
    std::int64_t origin_ns = 0;  // Entries count from here, so that a shift moves one number.
    std::int64_t touched_ns = 0;
  };
  static_assert(sizeof(State) == 24);

  // Entry.at is the time of admission, in nanoseconds since state.origin_ns. Requires
  // FaultOf(quota) silent and cost in 0..kMaxUnits; the same for all steps.
  template <EntryList List>
  [[nodiscard]] static ListOutcome<State> Check(const Quota& quota, const State& state,
                                                const List& list, const Now& now, Cost cost) {
    return Judge(quota, state, list, now, cost, Verb::kCheck);
  }

  // The verdict, reason and retry_after of a check of `cost`; remaining and reset_after of now.
  template <EntryList List>
  [[nodiscard]] static ListOutcome<State> Peek(const Quota& quota, const State& state,
                                               const List& list, const Now& now, Cost cost) {
    return Judge(quota, state, list, now, cost, Verb::kPeek);
  }

  // Gives `units` back, from the newest entries first, never above the whole quota.
  template <EntryList List>
  [[nodiscard]] static ListRefund<State> Refund(const Quota& quota, const State& state,
                                                const List& list, const Now& now, Units units) {
    if (quota.unlimited || units == 0) {
      return {.state = state};
    }
    const Seen seen = See(quota, state, list, now);
    const Units take = std::min(units, seen.used);
    if (take == seen.used) {
      return {.state = State{}, .drop = seen.drop, .take = take};
    }
    State refunded = seen.state;
    refunded.used = seen.used - take;
    refunded.touched_ns = seen.now;
    return {.state = refunded, .drop = seen.drop, .take = take};
  }

  // From when on the state is a fresh key's; Instant{} for one that is.
  template <EntryList List>
  [[nodiscard]] static Instant Expiry(const Quota& quota, const State& state, const List& list) {
    return Instant(Duration(state.used == 0 ? 0 : EndOfNewest(quota, state, list)));
  }

 private:
  // A state brought to where it is judged.
  struct Seen {
    State state;  // As stored, its times moved if a shared store's clock stepped back.
    std::int64_t now = 0;
    Units used = 0;          // Within the window; 0 for a fresh key.
    std::uint32_t drop = 0;  // How many of the oldest entries have left it.
  };

  template <EntryList List>
  static Seen See(const Quota& quota, const State& state, const List& list, const Now& now) {
    Seen seen{.state = state, .now = now.monotonic.time_since_epoch().count()};
    if (state.used == 0) {
      return seen;
    }
    const TimeReading reading = ReadTime<Clock>(seen.now, state.touched_ns);
    seen.now = reading.now;
    if (reading.back != 0) {
      seen.state.touched_ns = reading.now;
      seen.state.origin_ns = Minus(state.origin_ns, reading.back);
    }
    seen.used = state.used;
    const std::uint64_t age = Elapsed(seen.state.origin_ns, seen.now);
    const auto window = static_cast<std::uint64_t>(quota.window.count());
    list.ForEach([&](Entry entry) {
      if (age - static_cast<std::uint64_t>(entry.at) < window) {
        return false;
      }
      seen.used -= entry.units;
      ++seen.drop;
      return true;
    });
    return seen;
  }

  template <EntryList List>
  static std::int64_t EndOfNewest(const Quota& quota, const State& state, const List& list) {
    std::int64_t at = 0;
    list.ForEachNewestFirst([&at](Entry entry) {
      at = entry.at;
      return false;
    });
    return Plus(Plus(state.origin_ns, at), quota.window.count());
  }

  // When the oldest entries that hold `excess` units have left the window.
  template <EntryList List>
  static std::int64_t RetryAfter(const Quota& quota, const Seen& seen, const List& list,
                                 Units excess) {
    std::uint32_t index = 0;
    std::int64_t at = 0;
    list.ForEach([&](Entry entry) {
      if (index++ < seen.drop) {
        return true;
      }
      at = entry.at;
      excess -= entry.units;
      return excess > 0;
    });
    return Until(seen.now, Plus(Plus(seen.state.origin_ns, at), quota.window.count()));
  }

  template <EntryList List>
  static ListOutcome<State> Judge(const Quota& quota, const State& state, const List& list,
                                  const Now& now, Cost cost, Verb verb) {
    if (quota.unlimited) {
      return {.decision = UnlimitedDecision(), .on_allow = state, .on_deny = state};
    }
    const Seen seen = See(quota, state, list, now);
    ListOutcome<State> outcome{.decision = {}, .on_allow = seen.state, .on_deny = seen.state};
    Decision& decision = outcome.decision;
    decision.limit = quota.limit;
    decision.remaining = std::max<Units>(quota.limit - seen.used, 0);
    if (seen.used > 0) {
      decision.reset_after = Duration(Until(seen.now, EndOfNewest(quota, seen.state, list)));
    }
    const Reason never = ReasonForNever(quota.limit, cost);
    if (never != Reason::kNone) {
      Deny(decision, never, Decision::kNever);
    } else if (cost.units > decision.remaining) {
      const Units excess = seen.used + cost.units - quota.limit;
      Deny(decision, Reason::kQuotaExceeded, Duration(RetryAfter(quota, seen, list, excess)));
    } else {
      decision.allowed = true;
      if (verb == Verb::kCheck && cost.units > 0) {
        outcome.on_allow = {.used = seen.used + cost.units,
                            .origin_ns = seen.used == 0 ? seen.now : seen.state.origin_ns,
                            .touched_ns = seen.now};
        outcome.drop = seen.drop;
        outcome.append = {.at = Minus(seen.now, outcome.on_allow.origin_ns), .units = cost.units};
        decision.remaining -= cost.units;
        decision.reset_after = quota.window;
      }
    }
    return outcome;
  }
};

}  // namespace sluice::core
