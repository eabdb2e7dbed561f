#pragma once

#include <cstdint>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/outcome.h"
#include "core/quota.h"

namespace sluice::core {

template <class Timeline>
class SlidingWindowCounter {
 public:
  using Instant = BasicInstant<Timeline>;
  using Now = BasicNow<Timeline>;

  // All zero is a fresh key.
  struct State {
    Units previous = 0;
    Units current = 0;
    std::int64_t start_ns = 0;  // Of the current window. Epoch-aligned by the wall when the key
                                // was fresh; from then on windows follow each other on the line.
    std::int64_t touched_ns = 0;
  };
  static_assert(sizeof(State) == 32);

  [[nodiscard]] static Outcome<State> Check(const Quota& quota, const State& state, const Now& now,
                                            Cost cost);
  [[nodiscard]] static Outcome<State> Peek(const Quota& quota, const State& state, const Now& now,
                                           Cost cost);
  [[nodiscard]] static State Refund(const Quota& quota, const State& state, const Now& now,
                                    Units units);
  [[nodiscard]] static Instant Expiry(const Quota& quota, const State& state);
};

}  // namespace sluice::core
