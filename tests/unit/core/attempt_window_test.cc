#include "core/attempt_window.h"

#include <chrono>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

#include "unit/core/steps.h"

namespace sluice::core {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

// A key whose denials are charged.
using Driven = SteppedKey<AttemptWindow<TableClock>>;

constexpr Duration kStart = 1'699'920'000s;  // A minute, an hour and a day begin.

Quota Numbers(Units limit, Duration window) {
  Quota quota;
  quota.algorithm = Algorithm::kAttemptWindow;
  quota.limit = limit;
  quota.window = window;
  EXPECT_EQ(FaultOf(quota), std::nullopt);
  return quota;
}

TEST(AttemptWindowTest, CountsWhatItDenies) {
  Driven key(Numbers(10, 60s));
  EXPECT_EQ(key.Check(kStart, 7).remaining, 3);
  const Decision over = key.Check(kStart, 4);
  EXPECT_FALSE(over.allowed);
  EXPECT_EQ(over.reason, Reason::kQuotaExceeded);
  EXPECT_EQ(over.remaining, 3);  // Before it; now it is used up.
  EXPECT_FALSE(key.Check(kStart, 1).allowed);
  EXPECT_TRUE(key.Check(kStart + 60s, 10).allowed);
}

TEST(AttemptWindowTest, ACostOfNothingIsDeniedOnlyAboveTheLimit) {
  Driven key(Numbers(2, 60s));
  EXPECT_TRUE(key.Check(kStart, 2).allowed);
  EXPECT_TRUE(key.Check(kStart, 0).allowed);  // As much as the limit.
  EXPECT_FALSE(key.Check(kStart, 1).allowed);
  EXPECT_FALSE(key.Check(kStart, 0).allowed);
  EXPECT_FALSE(key.Peek(kStart, 0).allowed);
}

TEST(AttemptWindowTest, ALimitOfZeroDeniesEveryHitAndNoPeek) {
  Driven key(Numbers(0, 1s));
  EXPECT_TRUE(key.Check(kStart, 0).allowed);
  EXPECT_FALSE(key.Check(kStart, 1).allowed);
  EXPECT_FALSE(key.Check(kStart, 0).allowed);
}

TEST(AttemptWindowTest, SaysWhenTheWindowEndsAlsoOfAKeyNeverSeen) {
  Driven key(Numbers(10, 60s));
  EXPECT_EQ(key.Check(kStart, 0).reset_after, 60s);
  EXPECT_EQ(key.Check(kStart + 1s, 1).reset_after, 59s);
  EXPECT_EQ(key.Check(kStart + 59'999'999'999ns, 1).reset_after, 1ns);
  EXPECT_EQ(key.Check(kStart + 60s, 1).reset_after, 60s);
}

TEST(AttemptWindowTest, IsThePlainCounterOfEachWindow) {
  const Quota quota = Numbers(20, 60s);
  Driven key(quota);
  std::mt19937_64 random(3);
  Duration now = kStart;
  std::int64_t window = 0;
  Units used = 0;
  for (int i = 0; i < 20'000; ++i) {
    now += Duration(static_cast<std::int64_t>(random() % 5'000'000'000));
    const auto units = static_cast<Units>(random() % 4);
    if (window != now / 60s) {
      window = now / 60s;
      used = 0;
    }
    const Decision decision = key.Check(now, units);
    ASSERT_EQ(decision.allowed, used + units <= quota.limit);
    ASSERT_EQ(decision.remaining,
              std::max<Units>(quota.limit - (decision.allowed ? used + units : used), 0));
    ASSERT_EQ(decision.reset_after, 60s - now % 60s);
    used += units;
  }
}

TEST(AttemptWindowTest, TakesBackNeverMoreThanWasCounted) {
  Driven key(Numbers(10, 60s));
  (void)key.Check(kStart, 12);
  key.Refund(kStart, 5);
  EXPECT_EQ(key.Check(kStart, 0).remaining, 3);
  key.Refund(kStart, 100);
  EXPECT_EQ(key.Check(kStart, 0).remaining, 10);
}

TEST(AttemptWindowTest, ACounterThatCannotGoOnStaysAboveTheLimit) {
  Driven key(Numbers(10, 60s));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(key.Check(kStart, kMaxUnits).allowed);
  }
  EXPECT_FALSE(key.Check(kStart, 0).allowed);
  EXPECT_TRUE(key.Check(kStart + 60s, 1).allowed);
}

TEST(AttemptWindowTest, NoRuleMayNameIt) {
  EXPECT_EQ(NameOf(Algorithm::kAttemptWindow), "tally");
  EXPECT_EQ(AlgorithmNamed("tally"), std::nullopt);
}

}  // namespace
}  // namespace sluice::core
