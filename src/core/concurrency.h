#pragma once

#include <cstdint>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/judging.h"
#include "core/quota.h"

namespace sluice::core {

// At most `limit` units in flight; an unreleased hold expires. (Teaching comment: see
// concurrency.cc.) On the table's clock only: a shared store shifts its holds itself.
//
// Steps are pure and static, as in bucket.h.
class Concurrency {
 public:
  static constexpr const AlgorithmTraits& kTraits = TraitsOf(Algorithm::kConcurrency);
  using Instant = TableInstant;
  using Now = TableNow;

  // All zero is a fresh key.
  struct State {
    Units in_flight = 0;              // Units of all holds, expired ones not yet dropped included.
    std::int64_t next_expiry_ns = 0;  // No hold expires before this; 0 with no hold.
    std::int64_t last_expiry_ns = 0;  // No hold outlives this: the key's expiry.
  };
  static_assert(sizeof(State) == 24);

  // Before a step the store drops the holds whose expiry is at or before now; it only has to
  // look when now >= next_expiry_ns. On allow with cost > 0 it adds a hold of `cost` units that
  // expires at exactly now + quota.window; an unlimited quota keeps no holds.
  //
  // `kept`: how many free slots other priorities have reserved (Reserves::KeptFree). The store
  // says it, for it knows whose holds they are. `remaining` is what that leaves; `limit` is the
  // rule's. Denied: kInFlight, at an unknown time, where the slots are taken; kReserved where
  // those that are left are for another priority, at an unknown time, or never if the cost is
  // above CeilingOf(quota); cost above the limit and limit 0 as everywhere.
  [[nodiscard]] static Outcome<State> Check(const Quota& quota, const State& state, const Now& now,
                                            Cost cost, Units kept);
  [[nodiscard]] static Outcome<State> Peek(const Quota& quota, const State& state, const Now& now,
                                           Cost cost, Units kept);
  // The end of the hold that lasts longest; Instant{} with no hold.
  [[nodiscard]] static Instant Expiry(const Quota& /*quota*/, const State& state) {
    return Instant(Duration(state.last_expiry_ns));
  }
  // With nothing of the other priorities' shares in use.
  [[nodiscard]] static Outcome<State> Check(const Quota& quota, const State& state, const Now& now,
                                            Cost cost) {
    return Check(quota, state, now, cost, quota.limit - CeilingOf(quota));
  }
  [[nodiscard]] static Outcome<State> Peek(const Quota& quota, const State& state, const Now& now,
                                           Cost cost) {
    return Peek(quota, state, now, cost, quota.limit - CeilingOf(quota));
  }
};

}  // namespace sluice::core
