#include "core/sliding_window_log.h"

#include <gtest/gtest.h>

#include "unit/core/steps.h"

namespace sluice::core {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

using Log = ListKey<SlidingWindowLog<TableClock>>;

Quota Limit(Units limit, Duration window) {
  Quota quota;
  quota.algorithm = Algorithm::kSlidingWindowLog;
  quota.limit = limit;
  quota.window = window;
  EXPECT_EQ(FaultOf(quota), std::nullopt);
  return quota;
}

TEST(SlidingWindowLogTest, TraceOfFivePerMinute) {
  constexpr Duration kOne = 13h;  // 13:00:00
  Log key(Limit(5, 60s));
  for (const Duration t : {4min + 55s, 5min + 10s, 5min + 30s, 5min + 40s}) {
    EXPECT_TRUE(key.Check(kOne + t).allowed);
  }
  EXPECT_TRUE(key.Check(kOne + 5min + 45s).allowed);
  EXPECT_EQ(key.Check(kOne + 5min + 45s).retry_after, 10s);
  EXPECT_FALSE(key.Check(kOne + 5min + 55s - 1ns).allowed);
  EXPECT_TRUE(key.Check(kOne + 5min + 55s).allowed);
}

TEST(SlidingWindowLogTest, CountsEveryRequestOfOneInstant) {  // A8
  Log key(Limit(5, 1s));
  EXPECT_EQ(key.CountAllowed(7s, 20), 5);
  EXPECT_EQ(key.entries.size(), 1U);
}

TEST(SlidingWindowLogTest, AdmitsNoDoubleAtTheEdge) {
  Log key(Limit(10, 60s));
  EXPECT_EQ(key.CountAllowed(59'900ms, 10), 10);
  EXPECT_EQ(key.Check(60'100ms).retry_after, 59'800ms);
  EXPECT_EQ(key.Check(119'900ms - 1ns).retry_after, 1ns);
  EXPECT_EQ(key.CountAllowed(119'900ms, 11), 10);
}

TEST(SlidingWindowLogTest, WaitsForAsManyEntriesAsTheCostNeeds) {
  Log key(Limit(10, 10s));
  EXPECT_EQ(key.Check(0s, 4).remaining, 6);
  EXPECT_EQ(key.Check(1s, 5).remaining, 1);
  EXPECT_EQ(key.Check(2s, 2).retry_after, 8s);
  EXPECT_EQ(key.Check(2s, 5).retry_after, 8s);
  EXPECT_EQ(key.Check(2s, 6).retry_after, 9s);
  EXPECT_EQ(key.Check(10s, 5).remaining, 0);
  EXPECT_EQ(key.Check(11s - 1ns).retry_after, 1ns);
  EXPECT_TRUE(key.Check(11s, 5).allowed);
}

TEST(SlidingWindowLogTest, IsFreshWhenItsNewestEntryIsOld) {
  Log key(Limit(10, 10s));
  EXPECT_EQ(key.Check(1s).reset_after, 10s);
  EXPECT_EQ(key.Check(3s).reset_after, 10s);
  EXPECT_EQ(key.Peek(4s).reset_after, 9s);
  EXPECT_EQ(key.Expiry(), TableInstant(13s));
  EXPECT_EQ(key.Peek(13s).reset_after, 0s);
  EXPECT_TRUE(key.Check(13s).allowed);
  EXPECT_EQ(key.entries.size(), 1U);
}

TEST(SlidingWindowLogTest, RefundsTheNewestFirst) {
  Log key(Limit(10, 10s));
  key.Check(0s, 4);
  key.Check(1s, 4);
  key.Refund(2s, 6);
  EXPECT_EQ(key.Peek(2s).remaining, 8);
  EXPECT_EQ(key.Peek(10s).remaining, 10);
  key.Refund(2s, 100);
  EXPECT_EQ(key.Peek(2s).remaining, 10);
  EXPECT_EQ(key.entries.size(), 0U);
}

TEST(SlidingWindowLogTest, DeniesForeverWhatCannotFit) {
  Log key(Limit(5, 10s));
  EXPECT_EQ(key.Check(0s, 6).reason, Reason::kCostExceedsCapacity);
  EXPECT_EQ(key.Check(0s, 6).retry_after, Decision::kNever);
  key.quota.limit = 0;
  EXPECT_EQ(key.Check(0s, 0).reason, Reason::kLimitZero);
}

TEST(SlidingWindowLogTest, FollowsASharedClockThatStepsBack) {
  ListKey<SlidingWindowLog<StoreClock>, StoreClock> key(Limit(5, 10s));
  EXPECT_EQ(key.CountAllowed(104s, 6), 5);
  EXPECT_EQ(key.Check(94s).retry_after, 10s);
  EXPECT_EQ(key.Check(104s - 1ns).retry_after, 1ns);
  EXPECT_TRUE(key.Check(104s).allowed);
}

}  // namespace
}  // namespace sluice::core
