#include <chrono>

#include "conformance/store/key_store_conformance.h"

// What gives back: refunds of an amount, and resets.
namespace sluice::conformance {

using core::Algorithm;
using core::Quota;
using std::chrono::minutes;
using support::OwnedKey;

TEST_P(KeyStoreConformance, RefundGivesBackAndNeverMoreThanTheWhole) {
  for (const Algorithm algorithm : kMetered) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("f");
    const Quota quota = QuotaOf(algorithm, 10);
    EXPECT_TRUE(Ask(key, quota, 5).decision.allowed);
    EXPECT_EQ(Ask(key, quota, 3).decision.remaining, 2);
    Refund(key, quota, 4);
    EXPECT_EQ(Ask(key, quota, 0, true).decision.remaining, 6);
    Refund(key, quota, 400);
    EXPECT_EQ(Ask(key, quota, 0, true).decision.remaining, 10);
    Refund(key, quota, 5);
    EXPECT_EQ(Drain(key, quota, 100), 10);
    Refund(OwnedKey("nobody"), quota, 5);
    EXPECT_EQ(Ask(OwnedKey("nobody"), quota, 0, true).decision.remaining, 10);
  }
}

TEST_P(KeyStoreConformance, ResetMakesFresh) {
  for (const Algorithm algorithm : kAll) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("x");
    const OwnedKey other("y");
    const Quota quota = QuotaOf(algorithm, 30);
    EXPECT_EQ(Drain(key, quota, 100), 30);
    EXPECT_EQ(Drain(other, quota, 10), 10);
    Reset(key, quota);
    EXPECT_EQ(Ask(key, quota, 0, true).decision.remaining, 30);
    EXPECT_EQ(Drain(key, quota, 100), 30);
    EXPECT_EQ(Ask(other, quota, 0, true).decision.remaining, 20);
  }
}

// Giving back after a reset what was charged before it would give it back twice.
TEST_P(KeyStoreConformance, AReceiptFromBeforeAResetGivesNothingBack) {
  for (const Algorithm algorithm : kMetered) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("receipt");
    const Quota quota = QuotaOf(algorithm, 10);
    const store::Receipt before = Charge(key, quota, 6);
    const store::Receipt settled = Charge(key, quota, 1);
    const store::Receipt open = Charge(key, quota, 1);
    EXPECT_EQ(Settle(key, quota, settled, 1, 0).units, 0);
    fixture_->Advance(fixture_->resolution());
    Reset(key, quota);
    fixture_->Advance(fixture_->resolution());
    const store::Receipt after = Charge(key, quota, 4);
    const Units left = Left(key, quota);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(Settle(key, quota, before, 6, 0).units, 6);
      EXPECT_EQ(Settle(key, quota, before, 6, 2).units, 6);
      (void)Settle(key, quota, settled, 1, 0);
      EXPECT_EQ(Settle(key, quota, open, 1, 0, minutes(5)).units, 0);  // As after its window.
      EXPECT_EQ(Left(key, quota), left);
    }
    EXPECT_EQ(Settle(key, quota, after, 4, 0).units, 0);
    EXPECT_EQ(Left(key, quota), 10);
    // Once more: the mark of the second reset counts for what was charged since the first.
    const store::Receipt between = Charge(key, quota, 5);
    fixture_->Advance(fixture_->resolution());
    Reset(key, quota);
    fixture_->Advance(fixture_->resolution());
    EXPECT_TRUE(Ask(key, quota, 3).decision.allowed);
    EXPECT_EQ(Settle(key, quota, between, 5, 0).units, 5);
    EXPECT_EQ(Settle(key, quota, before, 6, 0).units, 6);
    EXPECT_EQ(Left(key, quota), 7);
  }
}

// Up to the last moment at which the charge counts.
TEST_P(KeyStoreConformance, AResetIsRememberedAsLongAsAnyChargeFromBeforeCounts) {
  for (const Algorithm algorithm : kMetered) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("remembered");
    const Quota quota = QuotaOf(algorithm, 10);
    fixture_->Advance(minutes(1));
    const store::Receipt before = Charge(key, quota, 6);
    fixture_->Advance(fixture_->resolution());
    Reset(key, quota);
    for (int i = 0; i < 60; ++i) {
      fixture_->Advance(std::chrono::seconds(1));
      (void)Ask(key, quota, 1);
      const Units left = Left(key, quota);
      // Each time another settlement is asked for: none of them changes the key.
      EXPECT_EQ(Settle(key, quota, before, 6, i % 6).units, 6) << i;
      EXPECT_EQ(Left(key, quota), left) << i;
    }
  }
}

// A plan with a slower refill: its receipts count longer than the numbers of the reset say.
TEST_P(KeyStoreConformance, AResetIsRememberedForTheSlowestOfTheKeysBuckets) {
  const OwnedKey key("slow");
  Quota slow = QuotaOf(Algorithm::kTokenBucket, 10);
  slow.rate = 1;
  const Quota fast = QuotaOf(Algorithm::kTokenBucket, 10);
  const store::Receipt before = Charge(key, slow, 6);
  fixture_->Advance(fixture_->resolution());
  support::Answered<store::ResetCall> reset;
  reset.key = key.view();
  reset.quota = fast;
  reset.counts_for = minutes(10);
  fixture_->store().Reset(reset);
  fixture_->Pump();
  EXPECT_EQ(reset.error, store::StoreError::kNone);
  fixture_->Advance(minutes(9));
  EXPECT_TRUE(Ask(key, slow, 8).decision.allowed);
  EXPECT_EQ(Settle(key, slow, before, 6, 0).units, 6);
  EXPECT_EQ(Left(key, slow), 2);
}

TEST_P(KeyStoreConformance, AResetIsRememberedAcrossARename) {
  const OwnedKey old_key("renamed reset", "old");
  const OwnedKey new_key("renamed reset", "new", "old");
  const Quota quota = QuotaOf(Algorithm::kTokenBucket, 10);
  const store::Receipt first = Charge(old_key, quota, 3);
  const store::Receipt second = Charge(old_key, quota, 3);
  fixture_->Advance(fixture_->resolution());
  Reset(old_key, quota);
  fixture_->Advance(fixture_->resolution());
  EXPECT_TRUE(Ask(new_key, quota, 8).decision.allowed);
  const Units left = Left(new_key, quota);
  EXPECT_EQ(Settle(new_key, quota, first, 3, 0).units, 3);
  EXPECT_EQ(Left(new_key, quota), left);
  Reset(new_key, quota);
  fixture_->Advance(fixture_->resolution());
  EXPECT_TRUE(Ask(new_key, quota, 8).decision.allowed);
  EXPECT_EQ(Settle(new_key, quota, second, 3, 0).units, 3);
  EXPECT_EQ(Left(new_key, quota), 2);
}

TEST_P(KeyStoreConformance, AHoldFromBeforeAResetFreesNobodysSlot) {
  const OwnedKey key("held before");
  const Quota quota = QuotaOf(Algorithm::kConcurrency, 2);
  const store::HoldId first = Ask(key, quota).hold;
  const store::HoldId second = Ask(key, quota).hold;
  Reset(key, quota);
  EXPECT_TRUE(Ask(key, quota).decision.allowed);
  EXPECT_TRUE(Ask(key, quota).decision.allowed);
  for (const store::HoldId hold : {first, second}) {
    EXPECT_EQ(Release(key, quota, hold), store::StoreError::kNotFound);
    EXPECT_EQ(Renew(key, quota, hold), store::StoreError::kNotFound);
  }
  EXPECT_FALSE(Ask(key, quota).decision.allowed);
}

}  // namespace sluice::conformance
