#include "core/concurrency.h"

#include <algorithm>

#include "core/judging.h"
#include "core/wide.h"

// The concurrency limiter: how many at once, not how many per second.
//
// The problem: what hurts a server is not the number of calls but those that are slow. Ten
// reports a minute are nothing, ten reports at the same time are an outage.
//
// The idea: a check that passes takes slots and gets a hold; a finished request releases it. The
// count of held slots is the whole decision.
//
// Corner cases:
// - Holders die. Each hold expires `hold_ttl` after it was granted, so that a crash costs
//   slots for a while and not for ever; releasing it later frees nothing a second time.
// - Some must get in even when it is full: `reserve` keeps a share of the slots for each of
//   some priorities. What is in flight is counted by priority. A priority fills its own share
//   first, and of the rest whatever is free; the part of a share that its priority does not use
//   is kept free for it alone. So with shares r and f in flight of each priority,
//   a request passes if afterwards
//
//       sum of max(f, r) over all other priorities with a share + all else in flight <= limit
//
//   Being kept out by a reserve is the server's state and not the caller's fault, hence its own
//   reason (503, not 429).
// - It is unknown when a slot will be free: the wait is unknown, not a guess. But where this
//   caller may never have as many slots as it asks for it will never pass, and saying "later" would
//   be a lie.
// - A limit lowered under what is in flight: nothing passes until enough were released.
//
// Source: Stripe, "Scaling your API with rate limiters": its second limiter (concurrent
// requests) and third (the fleet usage load shedder, the reserve).
namespace sluice::core {

namespace {

using State = Concurrency::State;

Outcome<State> Judge(const Quota& quota, const State& state, const TableNow& now, Cost cost,
                     Units kept, Verb verb) {
  if (quota.unlimited) {
    return {UnlimitedDecision(), state, state};
  }
  Outcome<State> outcome{.decision = {}, .on_allow = state, .on_deny = state};
  const std::int64_t monotonic = now.monotonic.time_since_epoch().count();
  Decision& decision = outcome.decision;
  decision.limit = quota.limit;
  decision.remaining = std::max<Units>(quota.limit - state.in_flight - kept, 0);
  if (state.in_flight > 0) {
    decision.reset_after = Duration(Until(monotonic, state.last_expiry_ns));
  }
  const Reason never = ReasonForNever(quota.limit, cost);
  if (never != Reason::kNone) {
    Deny(decision, never, Decision::kNever);
  } else if (cost.units > CeilingOf(quota)) {
    Deny(decision, Reason::kReserved, Decision::kNever);
  } else if (cost.units > decision.remaining) {
    const bool room = cost.units <= quota.limit - state.in_flight;
    Deny(decision, room ? Reason::kReserved : Reason::kInFlight, Decision::kUnknown);
  } else {
    decision.allowed = true;
    if (verb == Verb::kCheck && cost.units > 0) {
      const std::int64_t expiry = Plus(monotonic, quota.window.count());
      const bool first = state.in_flight == 0;
      outcome.on_allow = {
          .in_flight = state.in_flight + cost.units,
          .next_expiry_ns = first ? expiry : std::min(state.next_expiry_ns, expiry),
          .last_expiry_ns = first ? expiry : std::max(state.last_expiry_ns, expiry)};
      decision.remaining -= cost.units;
      decision.reset_after = Duration(Until(monotonic, outcome.on_allow.last_expiry_ns));
    }
  }
  return outcome;
}

}  // namespace

Outcome<State> Concurrency::Check(const Quota& quota, const State& state, const Now& now, Cost cost,
                                  Units kept) {
  return Judge(quota, state, now, cost, kept, Verb::kCheck);
}

Outcome<State> Concurrency::Peek(const Quota& quota, const State& state, const Now& now, Cost cost,
                                 Units kept) {
  return Judge(quota, state, now, cost, kept, Verb::kPeek);
}

}  // namespace sluice::core
