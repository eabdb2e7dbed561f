#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/quota.h"
#include "support/soak.h"

// Random histories of one key, judged by the code and by a plain oracle side by side.
//
// An oracle answers three questions about now, and two orders to remember:
//   std::optional<Units> Remaining(quota, now)   may be negative where a limit was lowered
//   bool Fresh(quota, now)
//   void Charge(quota, now, units)
//   void Refund(quota, now, units)
// It computes no waiting time. Waits are judged by what they promise: after exactly that
// long the oracle says yes, a nanosecond earlier no.
namespace sluice::core {

using Random = std::mt19937_64;

__extension__ typedef __int128 I128;  // NOLINT(modernize-use-using): __extension__.

inline std::int64_t At(const TableNow& now) {
  return now.monotonic.time_since_epoch().count();
}

inline std::int64_t Draw(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

inline bool OneIn(Random& random, std::int64_t n) {
  return Draw(random, 1, n) == 1;
}

inline constexpr std::uint64_t kStepsPerHistory = 1'000;
inline constexpr std::uint64_t kHistories = 1'000;  // A million steps.

// From one a month to ten million a second, some of them at the ends of what is legal.
inline Quota DrawQuota(Random& random, Algorithm algorithm) {
  static constexpr std::array<std::int64_t, 9> kWindowsMs{
      1, 7, 100, 1'000, 60'000, 3'600'000, 86'400'000, 2'592'000'000, 3'153'600'000'000};
  Quota quota;
  quota.algorithm = algorithm;
  do {
    const auto which = static_cast<std::size_t>(Draw(random, 0, kWindowsMs.size() - 1));
    quota.window = std::chrono::milliseconds(kWindowsMs[which]);
    const std::int64_t most = OneIn(random, 8) ? kMaxUnits : OneIn(random, 4) ? 10'000'000 : 40;
    quota.limit = Draw(random, 1, most);
    if (IsBucket(algorithm)) {
      quota.rate = OneIn(random, 2) ? quota.limit : Draw(random, 1, most);
    }
    if (algorithm == Algorithm::kSlidingWindow) {
      quota.segments = static_cast<std::uint8_t>(OneIn(random, 2) ? 8 : Draw(random, 1, 64));
      quota.strict = OneIn(random, 3);
    }
    if (algorithm == Algorithm::kLeakyBucket) {
      quota.shape = OneIn(random, 2);
    }
  } while (FaultOf(quota).has_value());
  return quota;
}

// How a history moves: gaps that matter to this quota, and a wall clock that may be set.
class Course {
 public:
  Course(Random& random, const Quota& quota, bool steps)
      : random_(random), quota_(quota), steps_(steps) {
    // Somewhere in 1970 to 2024; a century of windows still fits behind it.
    monotonic_ = Draw(random, 0, 1'700'000'000) * 1'000'000'000 + Draw(random, 0, 999'999'999);
    wall_clock_ = monotonic_;
  }

  // `retry` is the wait last promised, or 0.
  TableNow Next(std::int64_t retry) {
    const std::int64_t gap = Gap(retry);
    monotonic_ += gap;
    wall_clock_ += gap;
    if (steps_ && OneIn(random_, 30)) {
      wall_clock_ += Draw(random_, -3 * Span(), 3 * Span());
    }
    std::int64_t read = monotonic_;
    if (steps_ && OneIn(random_, 30)) {
      read -= Draw(random_, 0, 1'000);  // Another thread's earlier reading.
    }
    return {.monotonic = TableInstant(Duration(read)),
            .wall_clock = WallInstant(Duration(wall_clock_))};
  }

 private:
  // A window, but so short that a long history stays within the years that 64 bits hold.
  [[nodiscard]] std::int64_t Span() const {
    return std::min<std::int64_t>(quota_.window.count(), 500'000'000'000'000);
  }

  std::int64_t Gap(std::int64_t retry) {
    switch (Draw(random_, 0, 9)) {
      case 0:
      case 1:
        return 0;
      case 2:
        return Draw(random_, 1, 3);
      case 3:
        return retry > 0 && retry < 4 * Span() ? retry : Draw(random_, 0, Span());
      case 4:
        return retry > 0 && retry < 4 * Span() ? retry - 1 : Draw(random_, 0, Span() / 8);
      case 5:
        return OneIn(random_, 8) ? Draw(random_, 0, 4 * Span()) : 0;
      case 6:
        return Draw(random_, 0, Span() / 64);
      default:
        return Draw(random_, 0,
                    std::max<std::int64_t>(Span() / std::max<Units>(quota_.limit, 1), 1));
    }
  }

  Random& random_;
  const Quota& quota_;
  const bool steps_;
  std::int64_t monotonic_ = 0;
  std::int64_t wall_clock_ = 0;
};

// A debt that a lowered rate stretches beyond a century is answered cut to what 64 bits hold.
inline constexpr std::int64_t kJudgedWaitNs = 4'000'000'000'000'000'000;

inline TableNow After(const TableNow& now, std::int64_t ns) {
  return {.monotonic = now.monotonic + Duration(ns), .wall_clock = now.wall_clock + Duration(ns)};
}

// At most `units` may pass in any half-open span of `ns`.
struct Bound {
  std::int64_t ns = 0;
  Units units = 0;
};

// What really passed, to hold bounds against.
class Admissions {
 public:
  void Add(std::int64_t at, Units units) { all_.push_back({at, units}); }

  void ExpectWithin(const Bound& bound) const {
    Units sum = 0;
    for (auto it = all_.rbegin(); it != all_.rend(); ++it) {
      if (it->at <= all_.back().at - bound.ns) {
        break;
      }
      sum += it->units;
      ASSERT_LE(sum, bound.units) << "within " << bound.ns << " ns";
    }
  }

  struct One {
    std::int64_t at = 0;
    Units units = 0;
  };
  [[nodiscard]] const std::vector<One>& all() const { return all_; }

 private:
  std::vector<One> all_;
};

// One key under the code (`Driver`: SteppedKey or ListKey of unit/core/steps.h) and its oracle.
template <class Driver, class Oracle>
class Duel {
 public:
  Duel(Random& random, Quota quota, bool wild)
      : random_(random), key_(quota), course_(random, key_.quota, wild), wild_(wild) {}

  void Run(const std::vector<Bound>& bounds) {
    for (std::uint64_t i = 0; i < kStepsPerHistory && !testing::Test::HasFatalFailure(); ++i) {
      Step();
      if (!wild_ && charged_) {
        for (const Bound& bound : bounds) {
          admissions_.ExpectWithin(bound);
        }
      }
    }
  }

  [[nodiscard]] const Admissions& admissions() const { return admissions_; }

 private:
  void Step() {
    charged_ = false;
    const TableNow now = course_.Next(retry_);
    retry_ = 0;
    TableNow seen = now;  // As a state that was written later makes the code see it.
    seen.monotonic = std::max(seen.monotonic, written_);
    if (wild_ && OneIn(random_, 50)) {
      ChangeNumbers();
    }
    if (wild_ && OneIn(random_, 20)) {
      const Units units = Draw(random_, 1, std::max<Units>(key_.quota.limit / 2, 1));
      key_.Refund(now, units);
      oracle_.Refund(key_.quota, seen, units);
      written_ = seen.monotonic;
      if (oracle_.Fresh(key_.quota, seen)) {
        oracle_ = Oracle{};  // Nothing is left that an earlier reading could cross.
        written_ = TableInstant::min();
      }
      return;
    }
    const bool peek = OneIn(random_, 5);
    const Units cost = DrawCost();
    const auto state_before = key_.state;
    const std::optional<Units> left = oracle_.Remaining(key_.quota, seen);
    const bool fits = Fits(key_.quota, left, cost);
    const bool due_now = oracle_.Fresh(key_.quota, seen);
    const Decision decision = peek ? key_.Peek(now, cost) : key_.Check(now, cost);

    ASSERT_EQ(decision.allowed, fits);
    ASSERT_EQ(decision.limit, key_.quota.limit);
    if (key_.quota.shape && fits) {
      ASSERT_EQ(decision.wait == Duration::zero(), due_now);
      ExpectFreshAfter(seen, decision.wait.count());
    } else {
      ASSERT_EQ(decision.wait, Duration::zero());
    }
    charged_ = fits && !peek && cost > 0;
    if (charged_) {
      oracle_.Charge(key_.quota, seen, cost);
      written_ = seen.monotonic;
      admissions_.Add(seen.monotonic.time_since_epoch().count(), cost);
    } else {
      ASSERT_EQ(std::memcmp(&key_.state, &state_before, sizeof(state_before)), 0);
    }
    const Units remaining = oracle_.Remaining(key_.quota, seen).value_or(0);
    ASSERT_EQ(decision.remaining, std::max<Units>(remaining, 0));
    ExpectFreshAfter(seen, decision.reset_after.count());
    ExpectReason(decision, cost, seen);
  }

  void ExpectReason(const Decision& decision, Units cost, const TableNow& seen) {
    const Quota& quota = key_.quota;
    if (decision.allowed) {
      ASSERT_EQ(decision.reason, Reason::kNone);
      ASSERT_EQ(decision.retry_after, Duration::zero());
    } else if (quota.limit == 0 || (IsBucket(quota.algorithm) && quota.rate == 0)) {
      ASSERT_EQ(decision.reason, Reason::kLimitZero);
      ASSERT_EQ(decision.retry_after, Decision::kNever);
    } else if (cost > quota.limit) {
      ASSERT_EQ(decision.reason, Reason::kCostExceedsCapacity);
      ASSERT_EQ(decision.retry_after, Decision::kNever);
    } else {
      ASSERT_EQ(decision.reason, Reason::kQuotaExceeded);
      retry_ = decision.retry_after.count();
      ASSERT_GT(retry_, 0);
      if (retry_ > kJudgedWaitNs) {
        return;
      }
      const TableNow then = After(seen, retry_);
      const TableNow before = After(seen, retry_ - 1);
      ASSERT_TRUE(Fits(quota, oracle_.Remaining(quota, then), cost));
      ASSERT_FALSE(Fits(quota, oracle_.Remaining(quota, before), cost));
      ASSERT_TRUE(key_.Peek(then, cost).allowed);
      ASSERT_FALSE(key_.Peek(before, cost).allowed);
    }
  }

  // Fresh after exactly `ns`, and not a nanosecond before.
  void ExpectFreshAfter(const TableNow& seen, std::int64_t ns) {
    if (ns > kJudgedWaitNs) {
      return;
    }
    ASSERT_TRUE(oracle_.Fresh(key_.quota, After(seen, ns)));
    if (ns > 0) {
      ASSERT_FALSE(oracle_.Fresh(key_.quota, After(seen, ns - 1)));
    }
  }

  static bool Fits(const Quota& quota, std::optional<Units> left, Units cost) {
    return left.has_value() && quota.limit > 0 && cost <= quota.limit &&
           (cost == 0 || cost <= *left);
  }

  Units DrawCost() {
    const Units limit = std::max<Units>(key_.quota.limit, 1);
    switch (Draw(random_, 0, 9)) {
      case 0:
        return 0;
      case 1:
        return Draw(random_, 1, limit);
      case 2:
        return OneIn(random_, 4) ? std::min(limit + 1, kMaxUnits) : limit;
      case 3:
        return 1;
      default:
        return Draw(random_, 1, std::max<Units>(limit / 8, 1));
    }
  }

  void ChangeNumbers() {
    Quota changed = key_.quota;
    changed.limit = OneIn(random_, 6) ? 0 : Draw(random_, 1, std::max<Units>(2 * changed.limit, 9));
    if (IsBucket(changed.algorithm)) {
      changed.rate = OneIn(random_, 6) ? 0 : Draw(random_, 1, std::max<Units>(2 * changed.rate, 9));
    }
    if (!FaultOf(changed)) {
      key_.quota = changed;
    }
  }

  Random& random_;
  Driver key_;
  Oracle oracle_;
  Course course_;
  const bool wild_;  // Clocks step, numbers change, units are refunded.
  TableInstant written_ = TableInstant::min();
  std::int64_t retry_ = 0;
  bool charged_ = false;
  Admissions admissions_;
};

}  // namespace sluice::core
