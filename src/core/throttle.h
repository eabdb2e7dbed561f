#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/bucket.h"
#include "core/judging.h"
#include "core/quota.h"
#include "core/wide.h"

// The bucket of callers that send burst, rate and window with every check (CL.THROTTLE), so that
// any of them may change between checks.
//
// The problem: what a key owes is to carry over when its numbers change. Bucket keeps the
// debt in units x window, and so it carries over a new rate and a new burst as it is; but of
// another window it is another number of units. A rule starts fresh then, for its window is
// part of a key's name (store/key_hash.cc). Here the window may not be part of the name, or a
// caller who alternates between 60 and 61 seconds would have two quotas.
//
// The idea: the state says under which window it was written, and is rescaled when it is seen under
// another: owed x new / old. That is the same number of units. It is exact wherever new is a
// multiple of old; else it may fall between two of the new window's parts (10^-9 of a unit, divided
// by its seconds), and is rounded up: a change of window never grants anything, and lengthens a
// wait by at most the nanosecond that waits are rounded up to anyway, divided by the rate. Only an
// allowed check writes, so the roundings do not pile up: at most one for each unit charged.
//
// Where the room comes from: windows are whole seconds below 2^32, and the expiry is kept in
// seconds, rounded up, as slots keep it. So after a *lowered* rate a key may be taken for fresh
// up to a second later than its debt under the old rate was paid; never earlier.
//
// Source of the command and of its arithmetic: brandur/redis-cell. Unlike there, a period
// that no whole number of nanoseconds divides is not cut to one.
namespace sluice::core {

// Pure and static, as Bucket.
template <class Clock>
class Throttle {
 public:
  static constexpr const AlgorithmTraits& kTraits = TraitsOf(Algorithm::kThrottle);
  using Instant = BasicInstant<Clock>;
  using Now = BasicNow<Clock>;

  // All zero is a fresh key.
  struct State {
    std::uint64_t owed_low = 0;  // Units x window nanoseconds, of the window below.
    std::uint64_t owed_high = 0;
    std::int64_t touched_ns = 0;
    std::uint32_t expiry_s = 0;  // Rounded up; kNeverExpires for what lies past 2106.
    std::uint32_t window_s = 0;

    template <class Reader>
    void Describe(Reader& reader) const {
      reader.Wide("owed_unit_ns", owed_high, owed_low);
      reader.Number("window_s", window_s);
      reader.Past("touched_s_ago", touched_ns);
    }
  };
  static_assert(sizeof(State) == 32);

  // As Bucket's steps. Requires FaultOf(quota) silent, so a window of whole seconds.
  [[nodiscard]] static Outcome<State> Check(const Quota& quota, const State& state, const Now& now,
                                            Cost cost) {
    return Into(quota, state, Inner::Check(quota, From(quota, state), now, cost), cost.units > 0);
  }
  [[nodiscard]] static Outcome<State> Peek(const Quota& quota, const State& state, const Now& now,
                                           Cost cost) {
    return Into(quota, state, Inner::Peek(quota, From(quota, state), now, cost), false);
  }
  [[nodiscard]] static State Refund(const Quota& quota, const State& state, const Now& now,
                                    Units units) {
    return Into(quota, Inner::Refund(quota, From(quota, state), now, units));
  }
  [[nodiscard]] static Instant Expiry(const Quota& /*quota*/, const State& state) {
    const bool fresh = (state.owed_low | state.owed_high) == 0;
    return Instant(Duration(fresh ? 0 : ExpiryNs(state)));
  }

 private:
  using Inner = Bucket<Clock>;
  using InnerState = typename Inner::State;

  static constexpr std::int64_t kSecond = 1'000'000'000;
  static constexpr std::uint32_t kNeverExpires = std::numeric_limits<std::uint32_t>::max();

  static std::int64_t ExpiryNs(const State& state) {
    return state.expiry_s == kNeverExpires ? std::numeric_limits<std::int64_t>::max()
                                           : std::int64_t{state.expiry_s} * kSecond;
  }

  static std::uint32_t WindowSeconds(const Quota& quota) {
    return static_cast<std::uint32_t>(quota.window.count() / kSecond);
  }

  // owed x to / from, rounded up. No product passes 128 bits: owed is at most kMaxUnits x `from`
  // seconds, so its quotient by `from` is below 2^80.
  static U128 Rescaled(U128 owed, std::uint32_t from, std::uint32_t to) {
    const U128 whole = owed / from;
    const auto rest = static_cast<std::uint64_t>(owed % from);  // Below 2^32.
    return whole * to + (rest * to + from - 1) / from;
  }

  static InnerState From(const Quota& quota, const State& state) {
    U128 owed = (U128{state.owed_high} << 64) | state.owed_low;
    const std::uint32_t window = WindowSeconds(quota);
    if (state.window_s != window && state.window_s != 0) [[unlikely]] {
      owed = Rescaled(owed, state.window_s, window);
    }
    return {.owed_low = static_cast<std::uint64_t>(owed),
            .owed_high = static_cast<std::uint64_t>(owed >> 64),
            .touched_ns = state.touched_ns,
            .expiry_ns = ExpiryNs(state)};
  }

  static State Into(const Quota& quota, const InnerState& inner) {
    if ((inner.owed_low | inner.owed_high) == 0) {
      return {};
    }
    const std::int64_t whole = inner.expiry_ns / kSecond;
    const std::int64_t second = whole + (inner.expiry_ns % kSecond > 0 ? 1 : 0);
    return {.owed_low = inner.owed_low,
            .owed_high = inner.owed_high,
            .touched_ns = inner.touched_ns,
            .expiry_s = static_cast<std::uint32_t>(
                std::clamp<std::int64_t>(second, 0, std::int64_t{kNeverExpires})),
            .window_s = WindowSeconds(quota)};
  }

  // What is not charged stays as it was written, not rescaled, unless its times have moved.
  static Outcome<State> Into(const Quota& quota, const State& before,
                             const Outcome<InnerState>& outcome, bool may_charge) {
    const bool moved = Clock::kMayStepBack && outcome.on_deny.touched_ns != before.touched_ns;
    const State kept = moved ? Into(quota, outcome.on_deny) : before;
    return {.decision = outcome.decision,
            .on_allow = may_charge ? Into(quota, outcome.on_allow) : kept,
            .on_deny = kept};
  }
};

}  // namespace sluice::core
