#include "core/sliding_window_counter.h"

#include <gtest/gtest.h>

#include "unit/core/steps.h"

namespace sluice::core {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

using Counter = SteppedKey<SlidingWindowCounter<TableClock>>;

Quota Limit(Units limit, Duration window) {
  Quota quota;
  quota.algorithm = Algorithm::kSlidingWindowCounter;
  quota.limit = limit;
  quota.window = window;
  EXPECT_EQ(FaultOf(quota), std::nullopt);
  return quota;
}

TEST(SlidingWindowCounterTest, WeighsThePreviousWindowByWhatIsStillCovered) {
  Counter key(Limit(100, 100s));
  key.Check(50s, 80);
  key.Check(130s, 20);
  EXPECT_EQ(key.Peek(130s).remaining, 100 - 76);  // 80 * 0.7 + 20

  Counter other(Limit(100, 100s));
  other.Check(50s, 80);
  other.Check(170s, 30);
  EXPECT_EQ(other.Peek(170s).remaining, 100 - 54);  // 80 * 0.3 + 30
}

TEST(SlidingWindowCounterTest, FloorsAndSaysTheNanosecondOfTheNextUnit) {
  Counter key(Limit(10, 60s));
  EXPECT_TRUE(key.Check(30s, 10).allowed);
  EXPECT_EQ(key.Check(30s).retry_after, 30s + 1ns);
  EXPECT_EQ(key.Check(60s).retry_after, 1ns);
  EXPECT_TRUE(key.Check(60s + 1ns).allowed);
  EXPECT_EQ(key.Check(60s + 1ns).retry_after, 6s);
  EXPECT_EQ(key.Check(66s).retry_after, 1ns);
  EXPECT_TRUE(key.Check(66s + 1ns).allowed);
}

TEST(SlidingWindowCounterTest, AGapOfMoreThanAWindowZeroesThePrevious) {
  Counter key(Limit(10, 60s));
  key.Check(59s, 10);
  EXPECT_EQ(key.Peek(119s).remaining, 10);  // floor(10 / 60) = 0
  key.Check(59s + 120s, 10);
  EXPECT_EQ(key.Peek(59s + 120s).remaining, 0);
  EXPECT_EQ(key.Peek(59s + 120s).reset_after, 61s);
}

TEST(SlidingWindowCounterTest, IsFreshWhenBothCountsAreGone) {
  Counter key(Limit(10, 60s));
  EXPECT_EQ(key.Check(30s, 5).reset_after, 90s);
  EXPECT_EQ(SlidingWindowCounter<TableClock>::Expiry(key.quota, key.state), TableInstant(120s));
  EXPECT_EQ(key.Peek(70s).reset_after, 50s);
  EXPECT_EQ(key.Peek(120s).reset_after, 0s);
}

TEST(SlidingWindowCounterTest, RefundsTheNewestFirst) {
  Counter key(Limit(10, 60s));
  key.Check(0s, 4);
  key.Check(60s, 3);
  key.Refund(60s, 5);
  EXPECT_EQ(key.state.current, 0);
  EXPECT_EQ(key.state.previous, 2);
  key.Refund(60s, 5);
  EXPECT_EQ(key.state.previous, 0);
  EXPECT_EQ(key.Peek(60s).reset_after, 0s);
}

TEST(SlidingWindowCounterTest, DeniesForeverWhatCannotFit) {
  Counter key(Limit(5, 10s));
  EXPECT_EQ(key.Check(0s, 6).reason, Reason::kCostExceedsCapacity);
  EXPECT_EQ(key.Check(0s, 6).retry_after, Decision::kNever);
  key.quota.limit = 0;
  EXPECT_EQ(key.Check(0s, 0).reason, Reason::kLimitZero);
}

TEST(SlidingWindowCounterTest, KeepsItsWindowsWhenTheWallIsSet) {
  Counter key(Limit(5, 10s));
  const auto at = [](Duration monotonic, Duration wall_clock) {
    return TableNow{.monotonic = TableInstant(monotonic), .wall_clock = WallInstant(wall_clock)};
  };
  EXPECT_EQ(key.CountAllowed(104s, 5), 5);
  EXPECT_EQ(key.Check(at(104s, 94s)).retry_after, 6s + 1ns);
  EXPECT_EQ(key.Check(at(105s, 65s)).retry_after, 5s + 1ns);
  EXPECT_EQ(key.Check(at(110s, 70s)).retry_after, 1ns);
  EXPECT_TRUE(key.Check(at(110s + 1ns, 70s + 1ns)).allowed);
}

}  // namespace
}  // namespace sluice::core
