#include "lease/lease_policy.h"

#include <chrono>

#include <gtest/gtest.h>

#include "lease/lease_entry.h"

namespace sluice::lease {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A fifth of 10,000 a minute, as fast as it is granted, in the middle of it.
LeaseView Busy() {
  return {.is_window = true,
          .limit = 10'000,
          .remaining = 5'000,
          .share = 0.2,
          .rate = 33,
          .usable_s = 30,
          .span_s = 60,
          .round_trip_s = 0.001,
          .held = 0,
          .seen = 1'000};
}

// As many units as a check may cost, as often as it takes to fill 64 bits: no number overflows.
TEST(LeasePolicyTest, TheGreatestCostsLeaveEveryNumberPossible) {
  LeaseEntry entry;
  entry.quota.algorithm = core::Algorithm::kFixedWindow;
  entry.quota.limit = kMaxUnits;
  entry.quota.window = milliseconds(1);
  entry.span = SpanOf(entry.quota);
  entry.limit = entry.remaining = kMaxUnits;
  entry.ends = seconds(1);
  entry.share = 1;
  entry.arrivals.Start(NodeTime{}, seconds(1));
  for (int i = 0; i < 20'000; ++i) {
    entry.arrivals.Add(kMaxUnits, NodeTime{});
    ASSERT_GT(entry.arrivals.PerSecond(), 0);
    ASSERT_LT(entry.arrivals.PerSecond(), 1e18);
  }
  EXPECT_EQ(entry.arrivals.total(), kMaxUnits);
  const LeaseView view = entry.ViewAt(NodeTime{}, 1, 10);
  const Units grant = GrantOf(entry.ViewAt(NodeTime{}, 1, 0.001));
  EXPECT_GE(grant, 0);
  EXPECT_LE(grant, kMaxUnits);
  EXPECT_EQ(RefillPoint(view.rate, 1e6), kMaxUnits);
}

TEST(LeasePolicyTest, TakesNoMoreThanIsExpected) {
  LeaseView view = Busy();
  view.remaining = 10'000;
  EXPECT_NEAR(static_cast<double>(GrantOf(view)), 990 + 31, 1);
  view.usable_s = 3;
  EXPECT_NEAR(static_cast<double>(GrantOf(view)), 99 + 10, 1);
}

TEST(LeasePolicyTest, TakesThreeQuartersOfItsShareOfWhatIsLeft) {
  LeaseView view = Busy();
  EXPECT_EQ(GrantOf(view), 750);
  view.held = 700;
  EXPECT_EQ(GrantOf(view), 50);
  view.held = 800;
  EXPECT_EQ(GrantOf(view), 0);
}

TEST(LeasePolicyTest, StartsWithTwiceWhatItSaw) {
  LeaseView view = Busy();
  view.limit = view.remaining = 1'000;
  view.share = 1;
  view.seen = 40;
  EXPECT_EQ(GrantOf(view), 80);
  view.seen = 1;
  EXPECT_EQ(GrantOf(view), 25);  // Less is not worth a call.
}

TEST(LeasePolicyTest, AsksForEachUnitWhereThereAreFew) {
  LeaseView view = Busy();
  view.remaining = 9;
  EXPECT_EQ(GrantOf(view), 0);
  view = Busy();
  view.limit = view.remaining = 40;
  EXPECT_TRUE(IsSmall(view));
  EXPECT_EQ(GrantOf(view), 0);
}

TEST(LeasePolicyTest, NeverTakesMoreThanThereIs) {
  LeaseView view = Busy();
  view.share = 1;
  view.remaining = 30;
  EXPECT_LE(GrantOf(view), 30);
}

TEST(LeasePolicyTest, TakesNothingJustBeforeTheEnd) {
  LeaseView view = Busy();
  view.usable_s = 0.007;
  EXPECT_EQ(GrantOf(view), 0);
}

// Else whatever is lent would pass on top of the burst.
TEST(LeasePolicyTest, OfABucketAllTogetherHoldAnEighth) {
  LeaseView view = Busy();
  view.is_window = false;
  view.remaining = 10'000;
  EXPECT_EQ(MostHeld(view), 250);
  EXPECT_EQ(GrantOf(view), 250);
  view.held = 240;
  EXPECT_EQ(GrantOf(view), 10);
  view.held = 0;
  view.remaining = 100;
  EXPECT_EQ(GrantOf(view), 20);  // It is nearly empty.
  view.limit = 150;
  EXPECT_TRUE(IsSmall(view));
}

TEST(LeasePolicyTest, BorrowsAgainBeforeWhatArrivesMeanwhileIsGone) {
  EXPECT_EQ(RefillPoint(1'000, 0.001), 4);  // 2 that arrive, and 2 of their deviations.
  EXPECT_EQ(RefillPoint(3, 0.001), 0);
  EXPECT_EQ(RefillPoint(100'000, 0.002), 440);
}

TEST(LeasePolicyTest, GivesBackSoonerWhereItIsShort) {
  LeaseView view = Busy();
  view.remaining = 9'000;
  EXPECT_EQ(IdleTime(view), seconds(15));  // There is enough for all.
  view.remaining = 1'000;
  EXPECT_NEAR(static_cast<double>(IdleTime(view).count()), 8.0 / 33 * 1e9, 1e6);
}

TEST(LeasePolicyTest, ADenialHoldsForAPartOfTheRestOfItsWindow) {
  const LeaseView view = Busy();
  EXPECT_EQ(DenialTime(view, seconds(30), 1), milliseconds(7'500));
  EXPECT_EQ(DenialTime(view, seconds(2), 1), seconds(2));
  LeaseView small = Busy();
  small.limit = 40;
  EXPECT_EQ(DenialTime(small, seconds(30), 1), Duration(0));
}

TEST(LeasePolicyTest, AGrantEndsAThousandthSooner) {
  EXPECT_EQ(UsableTime(seconds(1024)), seconds(1023) - std::chrono::microseconds(1));
  EXPECT_LE(UsableTime(Duration(0)), Duration(0));
}

}  // namespace
}  // namespace sluice::lease
