#pragma once

#include <chrono>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/quota.h"

// One key of one algorithm, driven by hand: the store's part of a step in a few lines.
namespace sluice::core {

template <class Algo, class Timeline = TableTimeline>
class Key {
 public:
  using State = typename Algo::State;
  using Now = BasicNow<Timeline>;

  explicit Key(Quota rules) : quota(rules) {}

  // The line and the wall read the same.
  static Now At(Duration t) { return {.line = BasicInstant<Timeline>(t), .wall = WallInstant(t)}; }

  Decision Check(Duration t, Units units = 1) { return Check(At(t), units); }
  Decision Check(const Now& now, Units units = 1) {
    const auto outcome = Algo::Check(quota, state, now, Cost{units});
    state = outcome.decision.allowed ? outcome.on_allow : outcome.on_deny;
    return outcome.decision;
  }

  Decision Peek(Duration t, Units units = 0) { return Peek(At(t), units); }
  Decision Peek(const Now& now, Units units = 0) {
    const auto outcome = Algo::Peek(quota, state, now, Cost{units});
    state = outcome.decision.allowed ? outcome.on_allow : outcome.on_deny;
    return outcome.decision;
  }

  void Refund(Duration t, Units units) { state = Algo::Refund(quota, state, At(t), units); }

  // How many of `n` single units pass at one instant.
  int CountAllowed(Duration t, int n) {
    int allowed = 0;
    for (int i = 0; i < n; ++i) {
      allowed += Check(t).allowed ? 1 : 0;
    }
    return allowed;
  }

  Quota quota;
  State state{};
};

}  // namespace sluice::core
