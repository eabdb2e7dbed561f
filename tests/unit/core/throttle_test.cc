#include "core/throttle.h"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>

#include "unit/core/steps.h"

namespace sluice::core {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

using Table = Throttle<TableClock>;
using Driven = SteppedKey<Table>;

Quota Numbers(Units burst, Units rate, Duration window) {
  Quota quota;
  quota.algorithm = Algorithm::kThrottle;
  quota.limit = burst;
  quota.rate = rate;
  quota.window = window;
  EXPECT_EQ(FaultOf(quota), std::nullopt);
  return quota;
}

TEST(ThrottleTest, JudgesAsABucketWhileItsNumbersStay) {
  const Quota quota = Numbers(10, 3, 7s);
  Driven key(quota);
  SteppedKey<Bucket<TableClock>> twin(quota);
  std::mt19937_64 random(1);
  Duration now = 1000h;
  for (int i = 0; i < 5'000; ++i) {
    now += Duration(static_cast<std::int64_t>(random() % 3'000'000'000));
    const auto units = static_cast<Units>(random() % 5);
    ASSERT_EQ(key.Peek(now, units), twin.Peek(now, units));
    ASSERT_EQ(key.Check(now, units), twin.Check(now, units));
    ASSERT_GE(key.Expiry(), twin.Expiry());
    ASSERT_LT(key.Expiry() - twin.Expiry(), 1s);
  }
}

TEST(ThrottleTest, CarriesOwedUnitsOverToAnyWindow) {
  for (const Duration window : {Duration(1s), Duration(7s), Duration(60s), Duration(86'400s)}) {
    Driven key(Numbers(20, 10, 60s));
    ASSERT_EQ(key.CountAllowed(1h, 12), 12);
    key.quota = Numbers(20, 10, window);
    EXPECT_EQ(key.Peek(1h).remaining, 8) << window.count();
    EXPECT_EQ(key.CountAllowed(1h, 20), 8) << window.count();
    // The next unit comes back at the new rate.
    EXPECT_EQ(key.Peek(1h, 1).retry_after, window / 10) << window.count();
  }
}

// Else the debt would be rounded up once more each time that another window looks at it.
TEST(ThrottleTest, WhatIsNotChargedStaysAsItWasWritten) {
  SteppedKey<Throttle<StoreClock>, StoreClock> key(Numbers(10, 7, 60s));
  ASSERT_TRUE(key.Check(1h, 9).allowed);
  const auto before = key.state;
  const auto expect_same = [&] { EXPECT_EQ(std::memcmp(&key.state, &before, sizeof(before)), 0); };
  key.quota = Numbers(10, 7, 11s);
  EXPECT_TRUE(key.Peek(1h, 1).allowed);
  expect_same();
  EXPECT_TRUE(key.Check(1h, 0).allowed);
  expect_same();
  EXPECT_FALSE(key.Check(1h, 2).allowed);
  expect_same();
}

TEST(ThrottleTest, CarriesOwedUnitsOverToABurstBelowThem) {
  Driven key(Numbers(20, 10, 60s));
  ASSERT_EQ(key.CountAllowed(1h, 12), 12);
  key.quota = Numbers(5, 10, 10s);
  const Decision denied = key.Check(1h);
  EXPECT_FALSE(denied.allowed);
  EXPECT_EQ(denied.remaining, 0);
  EXPECT_EQ(denied.retry_after, 8s);  // 12 + 1 - 5 units at one a second.
  EXPECT_EQ(denied.reset_after, 12s);
}

TEST(ThrottleTest, ReturnsToTheSameDebtThroughAMultipleOfItsWindow) {
  Driven key(Numbers(1'000, 7, 60s));
  ASSERT_TRUE(key.Check(1h, 333).allowed);
  const Decision before = key.Peek(1h + 12'345'678ns);
  key.quota = Numbers(1'000, 7'000, 60'000s);
  ASSERT_TRUE(key.Check(1h + 12'345'678ns, 1).allowed);
  key.quota = Numbers(1'000, 7, 60s);
  key.Refund(1h + 12'345'678ns, 1);
  EXPECT_EQ(key.Peek(1h + 12'345'678ns), before);
}

// The rescaled debt is the smallest that is no less than the debt was, in exact arithmetic.
TEST(ThrottleTest, RoundsAChangeOfWindowUpByLessThanOnePart) {
  using Wide = boost::multiprecision::cpp_int;
  std::mt19937_64 random(2);
  const auto some_window = [&random] {
    const std::uint64_t most = std::uint64_t{1} << (random() % 32);
    return std::chrono::seconds(1 + static_cast<std::int64_t>(random() % most) % 3'153'600'000);
  };
  int rounded = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::chrono::seconds from = some_window();
    const std::chrono::seconds to = some_window();
    const auto units = static_cast<Units>(random() % kMaxUnits) + 1;
    Table::State state;
    const U128 owed = Multiply(static_cast<std::uint64_t>(units),
                               static_cast<std::uint64_t>(Duration(from).count())) -
                      random() % 1'000'000'000;
    state.owed_low = static_cast<std::uint64_t>(owed);
    state.owed_high = static_cast<std::uint64_t>(owed >> 64);
    state.touched_ns = 1;
    state.expiry_s = std::numeric_limits<std::uint32_t>::max();
    state.window_s = static_cast<std::uint32_t>(from.count());

    Quota quota;
    quota.algorithm = Algorithm::kThrottle;
    quota.limit = kMaxUnits;
    quota.rate = kMaxUnits;
    quota.window = to;
    // One unit more writes the debt under the new window. No time has passed.
    quota.limit = kMaxUnits;
    const auto outcome =
        Table::Check(quota, state, Driven::At(1ns), Cost{.units = units < kMaxUnits ? 1 : 0});
    if (!outcome.decision.allowed) {
      continue;
    }
    const Wide got = ((Wide(outcome.on_allow.owed_high) << 64) | outcome.on_allow.owed_low) -
                     (units < kMaxUnits ? Wide(Duration(to).count()) : Wide(0));
    const Wide was = (Wide(state.owed_high) << 64) | state.owed_low;
    ASSERT_GE(got * from.count(), was * to.count());
    ASSERT_LT((got - 1) * from.count(), was * to.count());
    rounded += got * from.count() > was * to.count() ? 1 : 0;
  }
  EXPECT_GT(rounded, 1'000);
}

// A caller who alternates between windows gains nothing by it, and loses next to nothing.
TEST(ThrottleTest, ChangingTheWindowEachTimeMintsNothing) {
  Driven key(Numbers(1'000'000, 1, 60s));
  ASSERT_TRUE(key.Check(1h).allowed);
  for (int i = 1; i < 500'000; ++i) {  // A nanosecond later, so that every debt is a fraction.
    key.quota.window = i % 2 == 0 ? 61s : 59s;
    ASSERT_TRUE(key.Check(1h + 1ns).allowed);
  }
  key.quota.window = 60s;
  EXPECT_FALSE(key.Peek(1h + 1ns, 500'001).allowed);
  EXPECT_LE(key.Peek(1h + 1ns, 500'000).retry_after, 1ms);  // Of the 347 days that are owed.
}

TEST(ThrottleTest, DeniesAndPeeksWithoutRescaling) {
  Driven key(Numbers(5, 5, 60s));
  ASSERT_EQ(key.CountAllowed(1h, 5), 5);
  const Table::State before = key.state;
  key.quota = Numbers(5, 5, 7s);
  EXPECT_FALSE(key.Check(1h).allowed);
  EXPECT_FALSE(key.Peek(1h, 1).allowed);
  EXPECT_EQ(std::memcmp(&before, &key.state, sizeof(before)), 0);
}

TEST(ThrottleTest, IsFreshFromItsExpiryOnWhateverNumbersCome) {
  Driven key(Numbers(10, 10, 10s));
  ASSERT_TRUE(key.Check(1000s + 1ns, 3).allowed);  // Paid back 3 s later.
  EXPECT_EQ(key.Expiry(), TableInstant(1004s));    // Kept in whole seconds.
  key.quota = Numbers(10, 1, 3600s);
  EXPECT_EQ(key.Peek(1004s - 1ns).remaining, 7);
  EXPECT_EQ(key.Peek(1004s).remaining, 10);
}

TEST(ThrottleTest, KeepsADebtThatOutlivesItsSecondsCounter) {
  Driven key(Numbers(1'000, 1, 3'000'000s));
  const Duration start = std::chrono::hours(24) * 365 * 60;  // 2030.
  ASSERT_TRUE(key.Check(start, 1'000).allowed);              // Paid back in 2125.
  EXPECT_EQ(key.Expiry(), TableInstant(Duration::max()));
  EXPECT_EQ(key.Peek(start + 1'500'000'000s).remaining, 500);
  EXPECT_EQ(key.Peek(start + 3'000'000'000s).remaining, 1'000);
}

TEST(ThrottleTest, AFullRefundLeavesAFreshKey) {
  Driven key(Numbers(10, 10, 10s));
  ASSERT_TRUE(key.Check(1000s, 3).allowed);
  key.Refund(1000s, 5);
  const Table::State fresh;
  EXPECT_EQ(std::memcmp(&fresh, &key.state, sizeof(fresh)), 0);
}

TEST(ThrottleTest, WantsWholeSeconds) {
  Quota quota = Numbers(1, 1, 1s);
  quota.window = 1500ms;
  EXPECT_TRUE(FaultOf(quota).has_value());
  EXPECT_EQ(AlgorithmNamed(NameOf(Algorithm::kThrottle)), std::nullopt);
}

}  // namespace
}  // namespace sluice::core
