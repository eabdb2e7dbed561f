#pragma once

#include <cstdint>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/outcome.h"
#include "core/quota.h"

namespace sluice::core {

// token_bucket, gcra and leaky_bucket.   (Teaching comment: see bucket.cc.)
//
// Steps are pure and static; all state is passed in and out. Every `now` may be earlier
// than the state: on a TableTimeline that counts as no time passed; on a StoreTimeline the
// state's times are shifted back with the clock, also on a denial or peek.
template <class Timeline>
class Bucket {
 public:
  using Instant = BasicInstant<Timeline>;
  using Now = BasicNow<Timeline>;

  // All zero is a fresh key. Owed is kept in units x window nanoseconds, unreduced, so that
  // it stays exact when the rate changes.
  struct State {
    std::uint64_t owed_low = 0;
    std::uint64_t owed_high = 0;
    std::int64_t touched_ns = 0;  // When owed was last brought up to date.
    std::int64_t expiry_ns = 0;   // Fresh from here on, whatever rate comes next.
  };
  static_assert(sizeof(State) == 32);

  // Requires FaultOf(quota) silent and cost in 0..kMaxUnits; the same for all steps.
  [[nodiscard]] static Outcome<State> Check(const Quota& quota, const State& state, const Now& now,
                                            Cost cost);
  // The verdict, reason, retry_after and wait of a check of `cost`; remaining and
  // reset_after of now.
  [[nodiscard]] static Outcome<State> Peek(const Quota& quota, const State& state, const Now& now,
                                           Cost cost);
  // Gives `units` back, never above the whole quota.
  [[nodiscard]] static State Refund(const Quota& quota, const State& state, const Now& now,
                                    Units units);
  // From when on the state is a fresh key's; Instant{} or earlier than `touched` if it is now.
  [[nodiscard]] static Instant Expiry(const Quota& quota, const State& state);
};

}  // namespace sluice::core
