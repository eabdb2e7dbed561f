#pragma once

#include <cstdint>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/judging.h"
#include "core/quota.h"

namespace sluice::core {

// Counts what passes in each aligned window or calendar period. (Teaching comment: see
// fixed_window.cc.) Steps are pure and static, as in bucket.h.
template <class Clock>
class FixedWindow {
 public:
  static constexpr const AlgorithmTraits& kTraits = TraitsOf(Algorithm::kFixedWindow);
  using Instant = BasicInstant<Clock>;
  using Now = BasicNow<Clock>;

  // All zero is a fresh key.
  struct State {
    Units used = 0;
    std::int64_t end_monotonic_ns = 0;   // The window is over when the monotonic clock is here,
    std::int64_t end_wall_clock_ns = 0;  // or the wall clock here, whichever is first.
    std::int64_t touched_ns = 0;

    template <class Reader>
    void Describe(Reader& reader) const {
      reader.Number("used", used);
      reader.Future("ends_in_s", end_monotonic_ns);
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
  // Gives `units` back, never above the whole quota.
  [[nodiscard]] static State Refund(const Quota& quota, const State& state, const Now& now,
                                    Units units);
  // From when on the state is a fresh key's, if the wall clock does not end its window sooner;
  // Instant{} for one that is.
  [[nodiscard]] static Instant Expiry(const Quota& quota, const State& state);
};

}  // namespace sluice::core
