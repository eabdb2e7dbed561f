// The golden vectors, played to the algorithms themselves: answers, and the state afterwards. On
// the table's clocks and on a shared store's.
#include "support/vectors.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <gtest/gtest.h>

#include "core/steps.h"
#include "unit/core/steps.h"

namespace sluice::core {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;
using support::VectorCase;
using support::VectorStep;
using Verb = VectorStep::Verb;

// A state as the vectors write it, with times since `start`.
template <class Clock>
value StateOf(const SteppedKey<FixedWindow<Clock>, Clock>& key, std::int64_t start) {
  return {{"used", key.state.used}, {"ends", key.state.end_monotonic_ns - start}};
}

template <class Clock>
value StateOf(const SteppedKey<AttemptWindow<Clock>, Clock>& key, std::int64_t start) {
  return {{"used", key.state.used}, {"ends", key.state.end_monotonic_ns - start}};
}

template <class Clock>
value StateOf(const SteppedKey<SlidingWindowCounter<Clock>, Clock>& key, std::int64_t start) {
  return {{"previous", key.state.previous},
          {"current", key.state.current},
          {"begins", key.state.start_ns - start}};
}

// Whole units, and the rest in units x nanoseconds of the window.
template <class State>
value DebtOf(const State& state, Duration window, std::int64_t expires) {
  const U128 owed = (U128{state.owed_high} << 64) | state.owed_low;
  const auto length = static_cast<std::uint64_t>(window.count());
  return {{"owed", array{static_cast<std::int64_t>(owed / length),
                         static_cast<std::int64_t>(owed % length)}},
          {"expires", expires}};
}

template <class Clock>
value StateOf(const SteppedKey<Bucket<Clock>, Clock>& key, std::int64_t start) {
  return DebtOf(key.state, key.quota.window, key.state.expiry_ns - start);
}

template <class Clock>
value StateOf(const SteppedKey<Throttle<Clock>, Clock>& key, std::int64_t start) {
  EXPECT_EQ(std::chrono::seconds(key.state.window_s), key.quota.window);
  return DebtOf(key.state, key.quota.window, key.Expiry().time_since_epoch().count() - start);
}

template <class Clock>
value StateOf(const ListKey<SlidingWindowLog<Clock>, Clock>& key, std::int64_t start) {
  array entries;
  key.entries.ForEach([&](Entry entry) {
    entries.push_back(array{key.state.origin_ns + entry.at - start, entry.units});
    return true;
  });
  return {{"entries", entries}};
}

template <class Clock>
value StateOf(const ListKey<SlidingWindow<Clock>, Clock>& key, std::int64_t start) {
  array segments;
  key.entries.ForEach([&](Entry entry) {
    segments.push_back(array{entry.at, entry.units});
    return true;
  });
  return {{"origin", key.state.origin_ns - start}, {"segments", segments}};
}

// concurrency, whose holds its store keeps: here that is this.
class HeldKey {
 public:
  using Now = TableNow;
  using State = Concurrency::State;

  explicit HeldKey(Quota rules) : quota(rules) {}

  Decision Check(const Now& now, Units units) {
    const auto outcome = Concurrency::Check(quota, state, now, Cost{units}, Kept());
    if (outcome.decision.allowed && units > 0 && !quota.unlimited) {
      holds_.push_back({.check = checks_,
                        .expiry = At(now) + quota.window.count(),
                        .units = units,
                        .priority = quota.priority});
    }
    state = outcome.decision.allowed ? outcome.on_allow : outcome.on_deny;
    ++checks_;
    return outcome.decision;
  }
  Decision Peek(const Now& now, Units units) {
    return Concurrency::Peek(quota, state, now, Cost{units}, Kept()).decision;
  }
  // What a store does before each step.
  void Look(const Now& now) {
    std::erase_if(holds_, [&](const Hold& hold) { return hold.expiry <= At(now); });
    Sum();
  }
  bool Release(std::size_t check) {
    const bool found = std::erase_if(holds_, [&](const Hold& h) { return h.check == check; }) > 0;
    Sum();
    return found;
  }
  bool Renew(const Now& now, std::size_t check) {
    const auto hold = std::ranges::find(holds_, check, &Hold::check);
    if (hold == holds_.end()) {
      return false;
    }
    hold->expiry = At(now) + quota.window.count();
    Sum();
    return true;
  }
  void Reset() { holds_.clear(); }
  [[nodiscard]] value StateSince(std::int64_t start) const {
    std::vector<std::pair<std::int64_t, Units>> sorted;
    for (const Hold& hold : holds_) {
      sorted.emplace_back(hold.expiry - start, hold.units);
    }
    std::ranges::sort(sorted);
    array holds;
    for (const auto& [expiry, units] : sorted) {
      holds.push_back(array{expiry, units});
    }
    return {{"holds", holds}};
  }

  Quota quota;
  State state{};

 private:
  struct Hold {
    std::size_t check = 0;
    std::int64_t expiry = 0;
    Units units = 0;
    PriorityTag priority = 0;
  };

  static std::int64_t At(const Now& now) { return now.monotonic.time_since_epoch().count(); }

  void Sum() {
    state = {};
    for (const Hold& hold : holds_) {
      state.in_flight += hold.units;
      state.last_expiry_ns = std::max(state.last_expiry_ns, hold.expiry);
    }
    state.next_expiry_ns = holds_.empty() ? 0 : std::ranges::min(holds_, {}, &Hold::expiry).expiry;
  }

  [[nodiscard]] Units Kept() const {
    if (quota.reserves == nullptr) {
      return 0;
    }
    std::vector<Units> in_flight;
    for (const Reserve& share : quota.reserves->shares()) {
      in_flight.push_back(0);
      for (const Hold& hold : holds_) {
        in_flight.back() += hold.priority == share.tag ? hold.units : 0;
      }
    }
    return quota.reserves->KeptFree(quota.limit, quota.priority, in_flight);
  }

  std::size_t checks_ = 0;
  std::vector<Hold> holds_;
};

value StateOf(const HeldKey& key, std::int64_t start) {
  return key.StateSince(start);
}

template <class Driver>
void Reset(Driver& key) {
  if constexpr (requires { key.Reset(); }) {
    key.Reset();
  } else if constexpr (requires { key.entries; }) {
    key.entries = {};
  }
  key.state = {};
}

template <class State>
bool IsSame(const State& a, const State& b) {
  return std::memcmp(&a, &b, sizeof(State)) == 0;
}

template <class Driver>
void Ask(Driver& key, const typename Driver::Now& now, const VectorStep& step) {
  const bool peeks = step.verb == Verb::kPeek;
  const Decision decision = peeks ? key.Peek(now, step.units) : key.Check(now, step.units);
  EXPECT_EQ(decision.allowed, step.decision.allowed);
  EXPECT_EQ(decision.reason, step.decision.reason);
  EXPECT_EQ(decision.limit, step.decision.limit);
  EXPECT_EQ(decision.remaining, step.decision.remaining);
  EXPECT_EQ(decision.retry_after, step.decision.retry_after);
  EXPECT_EQ(decision.reset_after, step.decision.reset_after);
  EXPECT_EQ(decision.wait, step.decision.wait);
}

template <class Driver>
void Do(Driver& key, const typename Driver::Now& now, const VectorStep& step) {
  switch (step.verb) {
    case Verb::kCheck:
    case Verb::kPeek:
      return Ask(key, now, step);
    case Verb::kReset:
      return Reset(key);
    case Verb::kRefund:
      if constexpr (requires { key.Refund(now, step.units); }) {
        return key.Refund(now, step.units);
      }
      break;
    case Verb::kRelease:
      if constexpr (requires { key.Release(step.of); }) {
        EXPECT_EQ(key.Release(step.of), step.found);
        return;
      }
      break;
    case Verb::kRenew:
      if constexpr (requires { key.Renew(now, step.of); }) {
        EXPECT_EQ(key.Renew(now, step.of), step.found);
        return;
      }
      break;
    case Verb::kSettle:
    case Verb::kStep:
      break;
  }
  ADD_FAILURE() << "a verb that this algorithm does not have";
}

template <class Driver>
void PlayCase(const VectorCase& vectors) {
  using Now = typename Driver::Now;
  Driver key(vectors.steps.front().quota);
  Duration stepped{};
  for (const VectorStep& step : vectors.steps) {
    SCOPED_TRACE(vectors.PlaceOf(step));
    if (step.verb == Verb::kStep) {
      stepped += step.step;
      continue;
    }
    const Duration start = vectors.start.time_since_epoch();
    const Duration monotonic = start + step.at + (vectors.clocks == 1 ? stepped : Duration{});
    const Now now{.monotonic = decltype(Now::monotonic)(monotonic),
                  .wall_clock = WallInstant(start + step.at + stepped)};
    key.quota = step.quota;
    if constexpr (requires { key.Look(now); }) {
      key.Look(now);
    }
    const typename Driver::State fresh{};
    const typename Driver::State before = key.state;
    Do(key, now, step);
    if (step.changes_state) {
      const bool is_fresh = IsSame(key.state, fresh);
      const value state = is_fresh ? value(nullptr) : StateOf(key, start.count());
      EXPECT_EQ(state, step.state) << serialize(state);
    } else if (vectors.clocks != 1) {
      // What counts for nothing any more may lie there or be gone.
      EXPECT_TRUE(IsSame(key.state, before) || IsSame(key.state, fresh));
    }
  }
}

// A key of the algorithm with these steps.
template <class Steps, class Clock>
auto DriverOf() {
  if constexpr (Steps::kTraits.has_entries()) {
    return std::type_identity<ListKey<Steps, Clock>>{};
  } else if constexpr (Steps::kTraits.has_holds()) {
    return std::type_identity<HeldKey>{};
  } else {
    return std::type_identity<SteppedKey<Steps, Clock>>{};
  }
}

template <class Clock>
void PlayOn(const VectorCase& vectors) {
  VisitSteps<Clock>(vectors.algorithm, [&]<class Steps>() {
    PlayCase<typename decltype(DriverOf<Steps, Clock>())::type>(vectors);
  });
}

class VectorsTest : public ::testing::TestWithParam<Algorithm> {};

// On the table's clocks and on a shared store's, which moves its holds itself.
TEST_P(VectorsTest, AnswersAndKeepsAsWritten) {
  int played = 0;
  for (const VectorCase& vectors : support::ReadVectors(GetParam())) {
    if (vectors.Has(Verb::kSettle)) {
      continue;  // Receipts are the stores' business.
    }
    ++played;
    if (vectors.clocks != 1) {
      PlayOn<TableClock>(vectors);
    }
    if (vectors.clocks != 2 && !HasHolds(GetParam())) {
      PlayOn<StoreClock>(vectors);
    }
  }
  EXPECT_GT(played, 10);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, VectorsTest, ::testing::ValuesIn(kAllAlgorithms),
                         [](const auto& tested) { return std::string(NameOf(tested.param)); });

}  // namespace
}  // namespace sluice::core
