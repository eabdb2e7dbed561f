#pragma once

#include <algorithm>
#include <cstdint>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/judging.h"
#include "core/quota.h"
#include "core/wide.h"

// token_bucket, gcra and leaky_bucket are one algorithm seen from three sides.
//
// The problem: "100 a minute, but 150 at once are all right". A window that counts cannot
// say that; it either forbids the burst or lets two of them meet at its edge.
//
// The idea: a bucket of `burst` tokens, refilled at `rate` per window. Refill needs no timer: what
// was taken is a debt, and a debt shrinks at a known speed, so it is enough to remember how much
// was owed and when ("lazy refill"). Tokens left = burst - debt. Seen upside down the debt is the
// water in a leaky bucket that drains at `rate`; and debt / rate is how far GCRA's "theoretical
// arrival time" runs ahead of now. Same number, three names, so one class. With `shape` the water
// is a queue: a request waits until what is ahead of it has drained.
//
// Why the debt is kept in units x window (nanoseconds), unreduced: in time dt the debt
// falls by exactly rate * dt of those, an integer, whatever the rate. Nothing is rounded
// as time passes: 3 per second asked every millisecond pays out exactly 3 a second, where
// a period cut to 333 ms would give more and floating point would drift. And a debt in
// *units* does not change its meaning when the rate does, as a time owed would.
//
// Corner cases:
// - Rounding happens only on the way out: `remaining` down, waits up. So the caller who
//   waits retry_after passes, and one nanosecond less is not enough.
// - 128 bits: 1e15 units x a century is 3e33; 64 bits would wrap after idling for months.
// - A denial writes nothing. If it moved `touched`, the fraction refilled since would be
//   lost or a retry loop would starve itself.
// - The expiry is fixed at the last touch. Later rates may say otherwise, but a store may
//   have forgotten the key by then, and forgetting must not be visible: so from there on
//   the key *is* fresh, and every wait ends there at the latest.
// - A burst lowered under the debt: nothing passes until the debt has sunk below it.
//
// Sources: ITU-T I.371 annex A and ATM Forum TM 4.0 (GCRA, both forms equivalent);
// J. Turner, "New directions in communications", 1986 (leaky bucket as a meter); Stripe,
// "Scaling your API with rate limiters"; AWS API Gateway's throttling (token bucket); Redis-cell
// (GCRA as a service); NGINX limit_req (shaping; its burst=N is N+1 here: it does not count the
// request that goes at once).
//
// All of it is in the header, so that the table's decision has no call in it.
namespace sluice::core {

// Steps are pure and static; all state is passed in and out. Every `now` may be earlier
// than the state: on a TableClock that counts as no time passed; on a StoreClock the
// state's times are shifted back with the clock, also on a denial or peek.
template <class Clock>
class Bucket {
 public:
  static constexpr const AlgorithmTraits& kTraits = TraitsOf(Algorithm::kTokenBucket);
  using Instant = BasicInstant<Clock>;
  using Now = BasicNow<Clock>;

  // All zero is a fresh key. Owed is kept in units x window nanoseconds, unreduced, so that
  // it stays exact when the rate changes.
  struct State {
    std::uint64_t owed_low = 0;
    std::uint64_t owed_high = 0;
    std::int64_t touched_ns = 0;  // When owed was last brought up to date.
    std::int64_t expiry_ns = 0;   // Fresh from here on, whatever rate comes next.

    template <class Reader>
    void Describe(Reader& reader) const {
      reader.Wide("owed_unit_ns", owed_high, owed_low);
      reader.Past("touched_s_ago", touched_ns);
    }
  };
  static_assert(sizeof(State) == 32);

  // Requires FaultOf(quota) silent and cost in 0..kMaxUnits; the same for all steps.
  [[nodiscard]] static Outcome<State> Check(const Quota& quota, const State& state, const Now& now,
                                            Cost cost) {
    return Judge<Verb::kCheck>(quota, state, now, cost);
  }

  // The verdict, reason, retry_after and wait of a check of `cost`; remaining and
  // reset_after of now.
  [[nodiscard]] static Outcome<State> Peek(const Quota& quota, const State& state, const Now& now,
                                           Cost cost) {
    return Judge<Verb::kPeek>(quota, state, now, cost);
  }

  // Gives `units` back, never above the whole quota.
  [[nodiscard]] static State Refund(const Quota& quota, const State& state, const Now& now,
                                    Units units) {
    if (quota.unlimited) {
      return state;
    }
    const Seen seen = See(quota, state, now.monotonic.time_since_epoch().count());
    const U128 back = TimesWindow(quota, units);
    if (seen.owed <= back) {
      return State{};
    }
    if (units == 0) {
      return seen.state;
    }
    const U128 owed = seen.owed - back;
    const std::int64_t drain =
        DrainTime(quota, owed, quota.rate == 0 ? seen.until_expiry : kLongestWaitNs);
    return StateOwing(owed, seen.now, Plus(seen.now, drain));
  }

  // From when on the state is a fresh key's; Instant{} or earlier than `touched` if it is now.
  [[nodiscard]] static Instant Expiry(const Quota& /*quota*/, const State& state) {
    return Instant(Duration(OwedIn(state) == 0 ? 0 : state.expiry_ns));
  }

 private:
  static U128 OwedIn(const State& state) { return (U128{state.owed_high} << 64) | state.owed_low; }

  static State StateOwing(U128 owed, std::int64_t touched, std::int64_t expiry) {
    return {.owed_low = static_cast<std::uint64_t>(owed),
            .owed_high = static_cast<std::uint64_t>(owed >> 64),
            .touched_ns = touched,
            .expiry_ns = expiry};
  }

  static std::uint64_t Positive(std::int64_t n) { return static_cast<std::uint64_t>(n); }

  static U128 TimesWindow(const Quota& quota, Units units) {
    return Multiply(Positive(units), Positive(quota.window.count()));
  }

  // How long `debt` takes to drain at today's rate; a key is fresh at its expiry anyway.
  static std::int64_t DrainTime(const Quota& quota, U128 debt, std::int64_t until_expiry) {
    if (debt == 0) {
      return 0;
    }
    if (quota.rate == 0) {
      return until_expiry;
    }
    return std::min(AsWait(CeilDivide(debt, Positive(quota.rate))), until_expiry);
  }

  // A state brought to where it is judged.
  struct Seen {
    State state;  // As stored, its times moved if a shared store's clock stepped back.
    std::int64_t now = 0;
    U128 owed = 0;                  // Now.
    std::int64_t until_expiry = 0;  // 0 for a fresh key.
  };

  static Seen See(const Quota& quota, const State& state, std::int64_t monotonic) {
    Seen seen{.state = state, .now = monotonic};
    const U128 owed = OwedIn(state);
    if (owed == 0) {
      return seen;
    }
    const TimeReading reading = ReadTime<Clock>(monotonic, state.touched_ns);
    seen.now = reading.now;
    if (reading.back != 0) {
      seen.state.touched_ns = reading.now;
      seen.state.expiry_ns = Minus(state.expiry_ns, reading.back);
    }
    if (seen.now >= seen.state.expiry_ns) {
      return seen;
    }
    const U128 drained = Multiply(Positive(quota.rate), Elapsed(seen.state.touched_ns, seen.now));
    if (drained < owed) {
      seen.owed = owed - drained;
      seen.until_expiry = Until(seen.now, seen.state.expiry_ns);
    }
    return seen;
  }

  static Units RemainingOf(const Quota& quota, U128 cap, U128 owed) {
    if (quota.rate == 0 || owed >= cap) {
      return 0;
    }
    return static_cast<Units>(FloorDivide(cap - owed, Positive(quota.window.count())));
  }

  // One way out, and no part of the answer in memory until then: the compiler keeps all of it in
  // registers.
  template <Verb kVerb>
  static Outcome<State> Judge(const Quota& quota, const State& state, const Now& now, Cost cost) {
    if (quota.unlimited) {
      return {UnlimitedDecision(), state, state};
    }
    const Seen seen = See(quota, state, now.monotonic.time_since_epoch().count());
    const U128 cap = TimesWindow(quota, quota.limit);
    const U128 owed_after = seen.owed + TimesWindow(quota, cost.units);
    const Reason never = ReasonForNever(quota.rate == 0 ? 0 : quota.limit, cost);
    const bool fits = owed_after <= cap || cost.units == 0;
    const bool allowed = never == Reason::kNone && fits;

    std::int64_t retry_after = 0;
    if (never != Reason::kNone) {
      retry_after = Decision::kNever.count();
    } else if (!fits) {
      retry_after = DrainTime(quota, owed_after - cap, seen.until_expiry);
    }
    const bool queues = allowed && quota.shape;
    const std::int64_t wait = queues ? DrainTime(quota, seen.owed, seen.until_expiry) : 0;

    const bool charges = kVerb == Verb::kCheck && allowed && cost.units > 0;
    const U128 owed = charges ? owed_after : seen.owed;
    const std::int64_t drain = DrainTime(quota, owed, charges ? kLongestWaitNs : seen.until_expiry);
    return {.decision = {.allowed = allowed,
                         .reason = fits || never != Reason::kNone ? never : Reason::kQuotaExceeded,
                         .limit = quota.limit,
                         .remaining = RemainingOf(quota, cap, owed),
                         .retry_after = Duration(retry_after),
                         .reset_after = Duration(drain),
                         .wait = Duration(wait)},
            .on_allow = charges ? StateOwing(owed, seen.now, Plus(seen.now, drain)) : seen.state,
            .on_deny = seen.state};
  }
};

}  // namespace sluice::core
