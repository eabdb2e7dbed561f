#include "lease/lease_policy.h"

#include <chrono>

#include <gtest/gtest.h>

#include "lease/lease_entry.h"

namespace sluice::lease {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A fifth of 10,000 a minute, as fast as it is granted, in the middle of it.
Standing Busy() {
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
  const Standing standing = entry.StandingAt(NodeTime{}, 1, 10);
  const Units grant = GrantOf(entry.StandingAt(NodeTime{}, 1, 0.001));
  EXPECT_GE(grant, 0);
  EXPECT_LE(grant, kMaxUnits);
  EXPECT_EQ(RefillPoint(standing.rate, 1e6), kMaxUnits);
}

TEST(LeasePolicyTest, TakesNoMoreThanIsExpected) {
  Standing standing = Busy();
  standing.remaining = 10'000;
  EXPECT_NEAR(static_cast<double>(GrantOf(standing)), 990 + 31, 1);
  standing.usable_s = 3;
  EXPECT_NEAR(static_cast<double>(GrantOf(standing)), 99 + 10, 1);
}

TEST(LeasePolicyTest, TakesThreeQuartersOfItsShareOfWhatIsLeft) {
  Standing standing = Busy();
  EXPECT_EQ(GrantOf(standing), 750);
  standing.held = 700;
  EXPECT_EQ(GrantOf(standing), 50);
  standing.held = 800;
  EXPECT_EQ(GrantOf(standing), 0);
}

TEST(LeasePolicyTest, StartsWithTwiceWhatItSaw) {
  Standing standing = Busy();
  standing.limit = standing.remaining = 1'000;
  standing.share = 1;
  standing.seen = 40;
  EXPECT_EQ(GrantOf(standing), 80);
  standing.seen = 1;
  EXPECT_EQ(GrantOf(standing), 25);  // Less is not worth a call.
}

TEST(LeasePolicyTest, AsksForEachUnitWhereThereAreFew) {
  Standing standing = Busy();
  standing.remaining = 9;
  EXPECT_EQ(GrantOf(standing), 0);
  standing = Busy();
  standing.limit = standing.remaining = 40;
  EXPECT_TRUE(IsSmall(standing));
  EXPECT_EQ(GrantOf(standing), 0);
}

TEST(LeasePolicyTest, NeverTakesMoreThanThereIs) {
  Standing standing = Busy();
  standing.share = 1;
  standing.remaining = 30;
  EXPECT_LE(GrantOf(standing), 30);
}

TEST(LeasePolicyTest, TakesNothingJustBeforeTheEnd) {
  Standing standing = Busy();
  standing.usable_s = 0.007;
  EXPECT_EQ(GrantOf(standing), 0);
}

// Else whatever is lent would pass on top of the burst.
TEST(LeasePolicyTest, OfABucketAllTogetherHoldAnEighth) {
  Standing standing = Busy();
  standing.is_window = false;
  standing.remaining = 10'000;
  EXPECT_EQ(MostHeld(standing), 250);
  EXPECT_EQ(GrantOf(standing), 250);
  standing.held = 240;
  EXPECT_EQ(GrantOf(standing), 10);
  standing.held = 0;
  standing.remaining = 100;
  EXPECT_EQ(GrantOf(standing), 20);  // It is nearly empty.
  standing.limit = 150;
  EXPECT_TRUE(IsSmall(standing));
}

TEST(LeasePolicyTest, BorrowsAgainBeforeWhatArrivesMeanwhileIsGone) {
  EXPECT_EQ(RefillPoint(1'000, 0.001), 4);  // 2 that arrive, and 2 of their deviations.
  EXPECT_EQ(RefillPoint(3, 0.001), 0);
  EXPECT_EQ(RefillPoint(100'000, 0.002), 440);
}

TEST(LeasePolicyTest, GivesBackSoonerWhereItIsShort) {
  Standing standing = Busy();
  standing.remaining = 9'000;
  EXPECT_EQ(IdleTime(standing), seconds(15));  // There is enough for all.
  standing.remaining = 1'000;
  EXPECT_NEAR(static_cast<double>(IdleTime(standing).count()), 8.0 / 33 * 1e9, 1e6);
}

TEST(LeasePolicyTest, ADenialHoldsForAPartOfTheRestOfItsWindow) {
  const Standing standing = Busy();
  EXPECT_EQ(DenialTime(standing, seconds(30), 1), milliseconds(7'500));
  EXPECT_EQ(DenialTime(standing, seconds(2), 1), seconds(2));
  Standing small = Busy();
  small.limit = 40;
  EXPECT_EQ(DenialTime(small, seconds(30), 1), Duration(0));
}

TEST(LeasePolicyTest, AGrantEndsAThousandthSooner) {
  EXPECT_EQ(UsableTime(seconds(1024)), seconds(1023) - std::chrono::microseconds(1));
  EXPECT_LE(UsableTime(Duration(0)), Duration(0));
}

}  // namespace
}  // namespace sluice::lease
