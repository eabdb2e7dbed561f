#include "core/concurrency.h"

#include <array>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/core/steps.h"

namespace sluice::core {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

using Holds = SteppedKey<Concurrency>;

Quota InFlight(Units limit, Duration hold_ttl = 5s) {
  Quota quota;
  quota.algorithm = Algorithm::kConcurrency;
  quota.limit = limit;
  quota.window = hold_ttl;
  EXPECT_EQ(FaultOf(quota), std::nullopt);
  return quota;
}

Reserves SharesOf(std::initializer_list<std::pair<const char*, int>> shares) {
  Reserves reserves;
  for (const auto& [priority, percent] : shares) {
    reserves.Add(priority, percent);
  }
  return reserves;
}

// A key with reserves: who has how many slots. All for one priority's numbers at a time.
class Shared {
 public:
  Shared(Units limit, std::initializer_list<std::pair<const char*, int>> shares)
      : reserves_(SharesOf(shares)),
        in_flight_(reserves_.shares().size()),
        quota_(InFlight(limit)) {
    quota_.reserves = &reserves_;
  }

  Decision Ask(std::string_view priority, Units units = 1) {
    quota_.priority = reserves_.TagOf(priority);
    const Units kept = reserves_.KeptFree(quota_.limit, quota_.priority, in_flight_);
    const TableNow now{.monotonic = TableInstant(0s), .wall_clock = WallInstant(0s)};
    const auto outcome = Concurrency::Check(quota_, state_, now, Cost{units}, kept);
    if (outcome.decision.allowed) {
      state_ = outcome.on_allow;
      Add(priority, units);
    }
    return outcome.decision;
  }
  void Release(std::string_view priority, Units units = 1) {
    state_.in_flight -= units;
    Add(priority, -units);
  }
  // How many single units pass, up to `most`.
  int Fill(std::string_view priority, int most = 100) {
    int passed = 0;
    while (passed < most && Ask(priority).allowed) {
      ++passed;
    }
    return passed;
  }

 private:
  void Add(std::string_view priority, Units units) {
    for (std::size_t i = 0; i < in_flight_.size(); ++i) {
      in_flight_[i] += reserves_.shares()[i].priority == priority ? units : 0;
    }
  }

  Reserves reserves_;
  std::vector<Units> in_flight_;
  Quota quota_;
  Concurrency::State state_;
};

TEST(ConcurrencyTest, AdmitsUpToTheLimitAndThenDoesNotKnowWhen) {
  Holds key(InFlight(2));
  EXPECT_EQ(key.Check(0s).remaining, 1);
  EXPECT_EQ(key.Check(0s).remaining, 0);
  const Decision denied = key.Check(0s);
  EXPECT_FALSE(denied.allowed);
  EXPECT_EQ(denied.reason, Reason::kInFlight);
  EXPECT_EQ(denied.retry_after, Decision::kUnknown);
  EXPECT_EQ(denied.limit, 2);
}

TEST(ConcurrencyTest, KnowsItsNextAndLastExpiry) {
  Holds key(InFlight(9));
  EXPECT_EQ(key.Check(1s).reset_after, 5s);
  key.quota.window = 2s;
  EXPECT_EQ(key.Check(2s).reset_after, 4s);
  EXPECT_EQ(key.state.next_expiry_ns, Duration(4s).count());
  EXPECT_EQ(key.state.last_expiry_ns, Duration(6s).count());
}

TEST(ConcurrencyTest, TheReserveKeepsOthersOut) {
  Shared key(10, {{"critical", 20}});
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(key.Ask("").remaining, 7 - i);
  }
  EXPECT_EQ(key.Ask("").reason, Reason::kReserved);
  EXPECT_EQ(key.Ask("").retry_after, Decision::kUnknown);
  EXPECT_EQ(key.Ask("", 2).reason, Reason::kReserved);
  EXPECT_EQ(key.Ask("", 3).reason, Reason::kInFlight);
  EXPECT_TRUE(key.Ask("critical", 2).allowed);
  EXPECT_EQ(key.Ask("critical").reason, Reason::kInFlight);
}

TEST(ConcurrencyTest, TwoReservesLeaveEachOtherTheirShares) {
  Shared key(10, {{"gold", 50}, {"silver", 50}});
  EXPECT_EQ(key.Ask("").reason, Reason::kReserved);
  EXPECT_EQ(key.Ask("").retry_after, Decision::kNever);
  EXPECT_EQ(key.Fill("gold"), 5);
  EXPECT_EQ(key.Ask("gold").reason, Reason::kReserved);
  EXPECT_EQ(key.Fill("silver"), 5);
  EXPECT_EQ(key.Ask("silver").reason, Reason::kInFlight);
  key.Release("gold");
  EXPECT_EQ(key.Ask("silver").reason, Reason::kReserved);
  EXPECT_EQ(key.Fill("gold"), 1);
}

TEST(ConcurrencyTest, WhatNobodyReservedIsForAll) {
  Shared key(10, {{"gold", 30}, {"silver", 20}});
  EXPECT_EQ(key.Fill("gold"), 8);  // Its 3, and the 5 that are not reserved.
  EXPECT_EQ(key.Ask("").reason, Reason::kReserved);
  EXPECT_EQ(key.Fill("silver"), 2);
  for (int i = 0; i < 5; ++i) {
    key.Release("gold");
  }
  EXPECT_EQ(key.Fill(""), 5);  // The share of gold is in use: nothing more is kept for it.
  EXPECT_EQ(key.Ask("gold").reason, Reason::kInFlight);
  key.Release("gold");
  EXPECT_EQ(key.Ask("").reason, Reason::kReserved);
  EXPECT_EQ(key.Fill("gold"), 1);
}

// Whoever asks in whatever order: never more than the limit, and a priority always gets its share.
TEST(ConcurrencyTest, NoOrderTakesAShareFromItsPriority) {
  std::mt19937_64 random(6);
  for (int history = 0; history < 300; ++history) {
    const int gold = static_cast<int>(random() % 60);
    const int silver = static_cast<int>(random() % 40);
    const Units limit = static_cast<Units>(random() % 20) + 1;
    Shared key(limit, {{"gold", gold + 1}, {"silver", silver + 1}});
    std::map<std::string, Units> held{{"gold", 0}, {"silver", 0}, {"", 0}};
    const std::map<std::string, Units> shares{
        {"gold", limit * (gold + 1) / 100}, {"silver", limit * (silver + 1) / 100}, {"", 0}};
    for (int step = 0; step < 200; ++step) {
      const std::string who = std::array{"gold", "silver", ""}[random() % 3];
      if (random() % 3 == 0 && held[who] > 0) {
        key.Release(who);
        --held[who];
        continue;
      }
      const bool allowed = key.Ask(who).allowed;
      ASSERT_TRUE(allowed || held[who] >= shares.at(who));
      held[who] += allowed ? 1 : 0;
      ASSERT_LE(held["gold"] + held["silver"] + held[""], limit);
    }
  }
}

TEST(ConcurrencyTest, NeverPassesWhatCannotFit) {
  Shared key(10, {{"critical", 20}});
  EXPECT_EQ(key.Ask("", 11).reason, Reason::kCostExceedsCapacity);
  EXPECT_EQ(key.Ask("", 11).retry_after, Decision::kNever);
  EXPECT_EQ(key.Ask("", 9).reason, Reason::kReserved);
  EXPECT_EQ(key.Ask("", 9).retry_after, Decision::kNever);
  Holds zero(InFlight(0));
  EXPECT_EQ(zero.Check(0s, 0).reason, Reason::kLimitZero);
}

TEST(ReservesTest, ANumberIsTheNamesOwn) {
  const Reserves some = SharesOf({{"gold", 10}, {"silver", 10}});
  const Reserves others = SharesOf({{"bronze", 5}, {"silver", 50}, {"gold", 1}});
  EXPECT_EQ(some.TagOf("gold"), others.TagOf("gold"));
  EXPECT_EQ(some.TagOf("silver"), others.TagOf("silver"));
  EXPECT_NE(some.TagOf("gold"), some.TagOf("silver"));
  EXPECT_EQ(some.TagOf("bronze"), 0);
  EXPECT_EQ(some.TagOf(""), 0);
}

TEST(ReservesTest, NamesThatMeetHaveNumbersOfTheirOwn) {
  std::map<PriorityTag, std::string> seen;
  std::string one;
  std::string other;
  for (int i = 0; other.empty(); ++i) {  // Of 8,191 numbers two meet before long.
    const std::string name = std::to_string(i);
    const PriorityTag tag = SharesOf({{name.c_str(), 1}}).TagOf(name);
    ASSERT_GT(tag, 0);
    ASSERT_LE(tag, kLastPriorityTag);
    if (const auto [met, first] = seen.try_emplace(tag, name); !first) {
      one = met->second;
      other = name;
    }
  }
  const Reserves both = SharesOf({{one.c_str(), 1}, {other.c_str(), 1}});
  EXPECT_NE(both.TagOf(one), both.TagOf(other));
}

TEST(ConcurrencyTest, CostZeroAndPeekHoldNothing) {
  Holds key(InFlight(2));
  EXPECT_TRUE(key.Check(0s, 0).allowed);
  EXPECT_EQ(key.Peek(0s, 2).remaining, 2);
  EXPECT_EQ(key.state.in_flight, 0);
}

TEST(ConcurrencyTest, ALoweredLimitWaitsForReleases) {
  Holds key(InFlight(3));
  key.Check(0s, 3);
  key.quota = InFlight(1);
  EXPECT_EQ(key.Check(0s).remaining, 0);
  key.state.in_flight = 1;
  EXPECT_FALSE(key.Check(0s).allowed);
  key.state.in_flight = 0;
  EXPECT_TRUE(key.Check(0s).allowed);
}

}  // namespace
}  // namespace sluice::core
