#pragma once

#include <cstdint>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/outcome.h"
#include "core/quota.h"

namespace sluice::core {

template <class Timeline>
class SlidingWindow {
 public:
  using Instant = BasicInstant<Timeline>;
  using Now = BasicNow<Timeline>;

  // All zero is a fresh key.
  struct State {
    Units used = 0;              // Units in all entries, outlived ones not yet dropped included.
    std::int64_t origin_ns = 0;  // Where segment 0 begins: an epoch-aligned window edge, by the
                                 // wall when the key was fresh.
    std::int64_t touched_ns = 0;
  };
  static_assert(sizeof(State) == 24);

  // Entry.at is the number of a segment, counted from state.origin_ns.
  template <EntryList List>
  [[nodiscard]] static ListOutcome<State> Check(const Quota& quota, const State& state,
                                                const List& list, const Now& now, Cost cost);
  template <EntryList List>
  [[nodiscard]] static ListOutcome<State> Peek(const Quota& quota, const State& state,
                                               const List& list, const Now& now, Cost cost);
  // How many units to take off the newest entries, after dropping the oldest `drop`.
  struct RefundOutcome {
    State state;
    std::uint32_t drop = 0;
    Units take = 0;
  };
  template <EntryList List>
  [[nodiscard]] static RefundOutcome Refund(const Quota& quota, const State& state,
                                            const List& list, const Now& now, Units units);
  template <EntryList List>
  [[nodiscard]] static Instant Expiry(const Quota& quota, const State& state, const List& list);
};

}  // namespace sluice::core
