#pragma once

#include <cstdint>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/judging.h"
#include "core/quota.h"

namespace sluice::core {

// A sliding window guessed from the counts of two fixed ones. (Teaching comment: see
// sliding_window_counter.cc.) Steps are pure and static, as in bucket.h.
template <class Clock>
class SlidingWindowCounter {
 public:
  static constexpr const AlgorithmTraits& kTraits = TraitsOf(Algorithm::kSlidingWindowCounter);
  using Instant = BasicInstant<Clock>;
  using Now = BasicNow<Clock>;

  // All zero is a fresh key.
  struct State {
    Units previous = 0;
    Units current = 0;
    std::int64_t start_ns = 0;  // Of the current window. Epoch-aligned by the wall clock when the
                                // key was fresh; later windows follow on the monotonic clock.
    std::int64_t touched_ns = 0;

    template <class Reader>
    void Describe(Reader& reader) const {
      reader.Number("previous", previous);
      reader.Number("current", current);
      reader.Past("touched_s_ago", touched_ns);
    }
  };
  static_assert(sizeof(State) == 32);

  // Requires FaultOf(quota) silent and cost in 0..kMaxUnits; the same for all steps.
  [[nodiscard]] static Outcome<State> Check(const Quota& quota, const State& state, const Now& now,
                                            Cost cost);
  // The verdict, reason and retry_after of a check of `cost`; remaining and reset_after of now.
  [[nodiscard]] static Outcome<State> Peek(const Quota& quota, const State& state, const Now& now,
                                           Cost cost);
  // Gives `units` back, from the current window first, never above the whole quota.
  [[nodiscard]] static State Refund(const Quota& quota, const State& state, const Now& now,
                                    Units units);
  // From when on both counts are gone; Instant{} for a fresh key.
  [[nodiscard]] static Instant Expiry(const Quota& quota, const State& state);
};

}  // namespace sluice::core
