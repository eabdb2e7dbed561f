#include <chrono>
#include <limits>

#include "conformance/store/key_store_conformance.h"

// What a charge cost in the end: settled once, in time, never above the whole quota, and to the
// last unit also where it is more than there was.
namespace sluice::conformance {

using core::Algorithm;
using core::Quota;
using std::chrono::minutes;
using std::chrono::seconds;
using store::StoreError;
using support::OwnedCheckCall;
using support::OwnedKey;

TEST_P(KeyStoreConformance, GivesBackWhatWasNotSpentOnce) {
  for (const Algorithm algorithm : kMetered) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("less");
    const Quota quota = QuotaOf(algorithm, 10);
    const store::Receipt receipt = Charge(key, quota, 6);
    EXPECT_EQ(Ask(key, quota, 2).decision.remaining, 2);
    EXPECT_EQ(Settle(key, quota, receipt, 6, 1).units, 1);
    EXPECT_EQ(Left(key, quota), 7);
    for (const Units other : {1, 0, 9}) {  // Said again, it stands as it was said first.
      const Settled again = Settle(key, quota, receipt, 6, other);
      EXPECT_EQ(again.error, StoreError::kNone);
      EXPECT_EQ(again.units, 1);
      EXPECT_EQ(Left(key, quota), 7);
    }
  }
}

TEST_P(KeyStoreConformance, ARefundIsASettlementAtNothing) {
  for (const Algorithm algorithm : kMetered) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("refunded");
    const Quota quota = QuotaOf(algorithm, 10);
    const store::Receipt first = Charge(key, quota, 4);
    const store::Receipt second = Charge(key, quota, 4);
    EXPECT_EQ(Settle(key, quota, second, 4, 0).units, 0);
    EXPECT_EQ(Left(key, quota), 6);
    EXPECT_EQ(Settle(key, quota, second, 4, 0).units, 0);
    EXPECT_EQ(Left(key, quota), 6);
    EXPECT_EQ(Settle(key, quota, first, 4, 0).units, 0);
    EXPECT_EQ(Left(key, quota), 10);
  }
}

// The same moment, key and cost: two charges all the same.
TEST_P(KeyStoreConformance, TakesWhatIsMoreWhateverTheLimit) {
  for (const Algorithm algorithm : kMetered) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("more");
    const Quota quota = QuotaOf(algorithm, 10);
    const store::Receipt receipt = Charge(key, quota, 4);
    EXPECT_EQ(Settle(key, quota, receipt, 4, 6).units, 6);
    EXPECT_EQ(Left(key, quota), 4);
    const store::Receipt debt = Charge(key, quota, 4);
    EXPECT_EQ(Settle(key, quota, debt, 4, 14).units, 14);
    EXPECT_EQ(Left(key, quota), 0);
    EXPECT_FALSE(Ask(key, quota).decision.allowed);
    if (core::IsBucket(algorithm)) {  // 20 owed of 10: paid for a minute before the first grant.
      EXPECT_EQ(Ask(key, quota).decision.retry_after, minutes(1) + seconds(6));
      fixture_->Advance(minutes(1) + seconds(6) - fixture_->resolution());
      EXPECT_FALSE(Ask(key, quota).decision.allowed);
      fixture_->Advance(fixture_->resolution());
    } else {
      fixture_->Advance(minutes(2));
    }
    EXPECT_TRUE(Ask(key, quota).decision.allowed);
  }
}

TEST_P(KeyStoreConformance, GivesBackNothingThatNoLongerCounts) {
  for (const Algorithm algorithm : kMetered) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("late");
    const Quota quota = QuotaOf(algorithm, 10);
    const store::Receipt receipt = Charge(key, quota, 4);
    const store::Receipt open = Charge(key, quota, 1);
    fixture_->Advance(minutes(1));
    EXPECT_TRUE(Ask(key, quota, 5).decision.allowed);
    const Units left = Left(key, quota);
    EXPECT_EQ(Settle(key, quota, receipt, 4, 0).units, 4);  // Settled at what was charged.
    EXPECT_EQ(Left(key, quota), left);
    EXPECT_EQ(Settle(key, quota, open, 1, 0, minutes(5)).units, 0);
    EXPECT_EQ(Left(key, quota), left);
  }
}

TEST_P(KeyStoreConformance, IsSettledAtTheEstimateAfterItsTime) {
  for (const Algorithm algorithm : kMetered) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("ttl");
    const Quota quota = QuotaOf(algorithm, 10);
    const store::Receipt in_time = Charge(key, quota, 4);
    const store::Receipt late = Charge(key, quota, 4);
    fixture_->Advance(seconds(10) - fixture_->resolution());
    EXPECT_EQ(Settle(key, quota, in_time, 4, 1, seconds(10)).units, 1);
    fixture_->Advance(fixture_->resolution());
    const Units left = Left(key, quota);
    EXPECT_EQ(Settle(key, quota, late, 4, 1, seconds(10)).units, 4);
    EXPECT_EQ(Settle(key, quota, late, 4, 9, seconds(10)).units, 4);
    EXPECT_EQ(Settle(key, quota, in_time, 4, 4, seconds(10)).units, 1);
    EXPECT_EQ(Left(key, quota), left);
  }
}

TEST_P(KeyStoreConformance, FollowsARename) {
  const OwnedKey old_key("renamed", "old");
  const OwnedKey new_key("renamed", "new", "old");
  const Quota quota = QuotaOf(Algorithm::kTokenBucket, 10);
  const store::Receipt receipt = Charge(old_key, quota, 8);
  EXPECT_EQ(Settle(new_key, quota, receipt, 8, 12).units, 12);
  EXPECT_EQ(Left(new_key, quota), 0);
  EXPECT_EQ(Ask(new_key, quota).decision.retry_after, seconds(18));
}

TEST_P(KeyStoreConformance, WhatNoChargeOfThisStoreCanBeIsNotFound) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const Algorithm algorithm : kMetered) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("forged");
    const Quota quota = QuotaOf(algorithm, 10);
    const store::Receipt given = Charge(key, quota, 4);
    ASSERT_NE(given.store_id, 0U);
    const auto with = [&given](auto change) {
      store::Receipt receipt = given;
      change(receipt);
      return receipt;
    };
    for (const store::Receipt& receipt :
         {with([](auto& r) { r.charged_at_ns = kLeast; }),
          with([](auto& r) { r.charged_at_ns = -1; }), with([](auto& r) { r.nonce = 0; }),
          with([](auto& r) { r.charged_at_ns += 1'000'000'000; }),
          with([](auto& r) { r.charged_at_ns = kMost; }), with([](auto& r) { r.store_id = 0; }),
          with([](auto& r) { r.store_id ^= 4; })}) {
      EXPECT_EQ(Settle(key, quota, receipt, 4, 0).error, StoreError::kNotFound);
      EXPECT_EQ(Left(key, quota), 6) << receipt.charged_at_ns;
    }
  }
}

// The longest that a quota may say: no sum overflows.
TEST_P(KeyStoreConformance, AChargeThatCountsForACenturyIsSettled) {
  Quota quota = QuotaOf(Algorithm::kTokenBucket, kMaxUnits);
  quota.window = core::kLongestHorizon;
  quota.rate = kMaxUnits;
  const OwnedKey key("century");
  const store::Receipt receipt = Charge(key, quota, 4);
  EXPECT_EQ(Settle(key, quota, receipt, 4, 1, Duration::max()).units, 1);
  EXPECT_EQ(Left(key, quota), kMaxUnits - 1);
  quota.rate = 0;
  const store::Receipt other = Charge(key, QuotaOf(Algorithm::kGcra, 10), 4);
  Quota still = QuotaOf(Algorithm::kGcra, kMaxUnits);
  still.rate = 1;
  still.window = core::kLongestHorizon;
  (void)Settle(key, still, other, 4, 0);  // Whatever it says, nothing overflows.
}

TEST_P(KeyStoreConformance, HoldsAreReleasedInstead) {
  const OwnedKey key("held");
  const Quota quota = QuotaOf(Algorithm::kConcurrency, 10);
  EXPECT_EQ(Settle(key, quota, {.charged_at_ns = 1, .nonce = 1}, 1, 0).error,
            StoreError::kUnsupported);
}

}  // namespace sluice::conformance
