#include "core/fixed_window.h"

#include <gtest/gtest.h>

#include "core/calendar.h"
#include "unit/core/steps.h"

namespace sluice::core {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

using Window = SteppedKey<FixedWindow<TableClock>>;

Quota Limit(Units limit, Duration window) {
  Quota quota;
  quota.algorithm = Algorithm::kFixedWindow;
  quota.limit = limit;
  quota.window = window;
  EXPECT_EQ(FaultOf(quota), std::nullopt);
  return quota;
}

TableNow MonotonicAndWallClock(Duration monotonic, Duration wall_clock) {
  return {.monotonic = TableInstant(monotonic), .wall_clock = WallInstant(wall_clock)};
}

TEST(FixedWindowTest, CountsFromTheClocksOwnEdges) {
  Window key(Limit(5, 10s));
  EXPECT_EQ(key.Check(101s, 3).remaining, 2);
  const Decision denied = key.Check(102s, 3);
  EXPECT_FALSE(denied.allowed);
  EXPECT_EQ(denied.reason, Reason::kQuotaExceeded);
  EXPECT_EQ(denied.remaining, 2);
  EXPECT_EQ(denied.retry_after, 8s);
  EXPECT_EQ(key.Check(102s, 2).remaining, 0);
  EXPECT_EQ(key.Check(110s - 1ns).retry_after, 1ns);
  EXPECT_EQ(key.Check(110s, 3).remaining, 2);
}

TEST(FixedWindowTest, AlignsBeforeTheEpochToo) {
  Window key(Limit(1, 10s));
  EXPECT_EQ(key.Check(-3s).reset_after, 3s);
  EXPECT_EQ(key.Check(-1s).retry_after, 1s);
  EXPECT_TRUE(key.Check(0s).allowed);
}

TEST(FixedWindowTest, PassesExactlyTheLimit) {
  Window key(Limit(3, 1h));
  EXPECT_EQ(key.CountAllowed(0s, 5), 3);
  EXPECT_EQ(key.Peek(0s).remaining, 0);
}

TEST(FixedWindowTest, DeniesForeverWhatCannotFit) {
  Window key(Limit(5, 10s));
  EXPECT_EQ(key.Check(0s, 6).reason, Reason::kCostExceedsCapacity);
  EXPECT_EQ(key.Check(0s, 6).retry_after, Decision::kNever);
  key.quota.limit = 0;
  EXPECT_EQ(key.Check(0s, 0).reason, Reason::kLimitZero);
  EXPECT_EQ(key.Check(0s, 1).retry_after, Decision::kNever);
}

TEST(FixedWindowTest, AWallSetBackNeitherGrantsNorLocksOut) {
  Window key(Limit(5, 10s));
  EXPECT_EQ(key.CountAllowed(104s, 6), 5);
  EXPECT_EQ(key.Check(MonotonicAndWallClock(104s, 94s)).retry_after, 6s);
  EXPECT_EQ(key.Check(MonotonicAndWallClock(105s, 95s)).retry_after, 5s);
  EXPECT_EQ(key.Check(MonotonicAndWallClock(105s, 65s)).retry_after, 5s);
  EXPECT_EQ(key.Check(MonotonicAndWallClock(110s - 1ns, 70s - 1ns)).retry_after, 1ns);
  const Decision decision = key.Check(MonotonicAndWallClock(110s, 73s));
  EXPECT_TRUE(decision.allowed);
  EXPECT_EQ(decision.reset_after, 7s);
}

TEST(FixedWindowTest, AWallSetForwardEndsTheWindow) {
  Window key(Limit(1, 10s));
  EXPECT_TRUE(key.Check(MonotonicAndWallClock(101s, 101s)).allowed);
  EXPECT_EQ(key.Check(MonotonicAndWallClock(102s, 107s)).retry_after, 3s);
  EXPECT_TRUE(key.Check(MonotonicAndWallClock(103s, 110s)).allowed);
}

TEST(FixedWindowTest, RefundsWithinTheWindowOnly) {
  Window key(Limit(10, 10s));
  key.Check(100s, 6);
  key.Refund(101s, 2);
  EXPECT_EQ(key.Peek(101s).remaining, 6);
  key.Refund(110s, 2);
  key.Check(110s, 1);
  EXPECT_EQ(key.Peek(110s).remaining, 9);
  key.Refund(111s, 5);
  EXPECT_EQ(key.Peek(111s).remaining, 10);
}

TEST(FixedWindowTest, AMonthIsNotThirtyDays) {  // A17
  const auto calendar = Calendar::Create(CalendarUnit::kMonth, "UTC", "");
  ASSERT_TRUE(calendar);
  Quota quota = Limit(1, 1s);
  quota.window = {};
  quota.calendar = calendar->get();
  EXPECT_EQ(FaultOf(quota), std::nullopt);
  Window key(quota);
  constexpr Duration kJanuary = 1'704'067'200s;  // 2024-01-01T00:00:00Z
  EXPECT_TRUE(key.Check(kJanuary).allowed);
  EXPECT_EQ(key.Check(kJanuary + 30 * 24h + 12h).retry_after, 12h);
  EXPECT_EQ(FixedWindow<TableClock>::Expiry(quota, key.state), TableInstant(kJanuary + 31 * 24h));
  EXPECT_TRUE(key.Check(kJanuary + 31 * 24h).allowed);
}

TEST(FixedWindowTest, FollowsASharedClockThatStepsBack) {
  SteppedKey<FixedWindow<StoreClock>, StoreClock> key(Limit(5, 10s));
  EXPECT_EQ(key.CountAllowed(104s, 6), 5);
  EXPECT_EQ(key.Check(94s).retry_after, 6s);
  EXPECT_EQ(key.Check(95s).retry_after, 5s);
  EXPECT_EQ(key.Check(65s).retry_after, 6s);  // The denial at 95 wrote nothing.
  EXPECT_EQ(key.Check(71s - 1ns).retry_after, 1ns);
  EXPECT_TRUE(key.Check(71s).allowed);
}

}  // namespace
}  // namespace sluice::core
