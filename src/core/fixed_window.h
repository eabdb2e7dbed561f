#pragma once

#include <cstdint>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/outcome.h"
#include "core/quota.h"

namespace sluice::core {

template <class Timeline>
class FixedWindow {
 public:
  using Instant = BasicInstant<Timeline>;
  using Now = BasicNow<Timeline>;

  // All zero is a fresh key.
  struct State {
    Units used = 0;
    std::int64_t end_line_ns = 0;  // The window is over when the line reaches this ...
    std::int64_t end_wall_ns = 0;  // ... or the wall reaches this, whichever is first.
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
