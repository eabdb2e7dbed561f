#include <chrono>
#include <string_view>
#include <vector>

#include "conformance/store/key_store_conformance.h"

// Holds: granted by checks, released, expired.
namespace sluice::conformance {

using core::Algorithm;
using core::Quota;
using std::chrono::seconds;
using store::CheckAnswer;
using store::StoreError;
using support::OwnedCheckCall;
using support::OwnedKey;

TEST_P(KeyStoreConformance, HoldsAreReleasedOnceAndExpire) {
  const OwnedKey key("h");
  const Quota quota = QuotaOf(Algorithm::kConcurrency, 20);
  std::vector<store::HoldId> holds;
  for (int i = 0; i < 20; ++i) {
    const CheckAnswer answer = Ask(key, quota);
    ASSERT_TRUE(answer.decision.allowed);
    ASSERT_NE(answer.hold, 0U);
    holds.push_back(answer.hold);
  }
  const CheckAnswer denied = Ask(key, quota);
  EXPECT_EQ(denied.decision.reason, Reason::kInFlight);
  EXPECT_EQ(denied.decision.retry_after, Decision::kUnknown);
  EXPECT_EQ(Release(OwnedKey("other"), quota, holds[3]), StoreError::kNotFound);
  EXPECT_EQ(Release(key, quota, holds[3]), StoreError::kNone);
  EXPECT_EQ(Release(key, quota, holds[3]), StoreError::kNotFound);
  EXPECT_EQ(Ask(key, quota, 0, true).decision.remaining, 1);
  fixture_->Advance(seconds(30));
  const CheckAnswer late = Ask(key, quota);
  EXPECT_TRUE(late.decision.allowed);
  EXPECT_EQ(Release(key, quota, holds[3]), StoreError::kNotFound);
  fixture_->Advance(seconds(30) - fixture_->resolution());
  EXPECT_EQ(Ask(key, quota, 0, true).decision.remaining, 0);
  fixture_->Advance(fixture_->resolution());
  EXPECT_EQ(Ask(key, quota, 0, true).decision.remaining, 19);
  EXPECT_EQ(Release(key, quota, holds[0]), StoreError::kNotFound);
  EXPECT_EQ(Release(key, quota, late.hold), StoreError::kNone);
  EXPECT_EQ(Ask(key, quota, 0, true).decision.remaining, 20);
  EXPECT_EQ(Release(key, quota, 12345), StoreError::kNotFound);
}

// Its place is another's by now.
TEST_P(KeyStoreConformance, AHoldReleasedTwiceLeavesItsSuccessorAlone) {
  const OwnedKey key("successor");
  const Quota quota = QuotaOf(Algorithm::kConcurrency, 1);
  const store::HoldId first = Ask(key, quota).hold;
  EXPECT_EQ(Release(key, quota, first), StoreError::kNone);
  const store::HoldId second = Ask(key, quota).hold;
  ASSERT_NE(second, 0U);
  EXPECT_EQ(Release(key, quota, first), StoreError::kNotFound);
  EXPECT_FALSE(Ask(key, quota).decision.allowed);
  EXPECT_EQ(Release(key, quota, second), StoreError::kNone);
}

// `reset_after` is that of the holds that are left, whichever went.
TEST_P(KeyStoreConformance, AKeyIsFreshWhenTheLastOfItsHoldsEnds) {
  const OwnedKey key("last");
  Quota quota = QuotaOf(Algorithm::kConcurrency, 9);
  const auto reset_after = [&] { return Ask(key, quota, 0, true).decision.reset_after; };
  std::vector<store::HoldId> holds;
  for (int i = 0; i < 7; ++i) {
    holds.push_back(Ask(key, quota).hold);
    fixture_->Advance(seconds(1));
  }
  EXPECT_EQ(reset_after(), seconds(59));
  EXPECT_EQ(Release(key, quota, holds[6]), StoreError::kNone);
  EXPECT_EQ(reset_after(), seconds(58));
  EXPECT_EQ(Release(key, quota, holds[2]), StoreError::kNone);
  EXPECT_EQ(reset_after(), seconds(58));
  // Of a rule whose hold_ttl is shorter by now.
  quota.window = seconds(3);
  EXPECT_EQ(Renew(key, quota, holds[5]), StoreError::kNone);
  EXPECT_EQ(reset_after(), seconds(57));
  for (const int i : {4, 3, 1, 0}) {
    EXPECT_EQ(Release(key, quota, holds[static_cast<std::size_t>(i)]), StoreError::kNone);
  }
  EXPECT_EQ(reset_after(), seconds(3));
  fixture_->Advance(seconds(3));
  EXPECT_EQ(reset_after(), Duration(0));
}

TEST_P(KeyStoreConformance, ARenewedHoldExpiresItsTimeLater) {
  const OwnedKey key("renewed");
  const Quota quota = QuotaOf(Algorithm::kConcurrency, 2);
  const store::HoldId kept = Ask(key, quota).hold;
  const store::HoldId left = Ask(key, quota).hold;
  fixture_->Advance(seconds(20));
  EXPECT_EQ(Renew(OwnedKey("other"), quota, kept), StoreError::kNotFound);
  EXPECT_EQ(Renew(key, quota, kept), StoreError::kNone);
  fixture_->Advance(seconds(40));
  EXPECT_EQ(Renew(key, quota, left), StoreError::kNotFound);
  EXPECT_EQ(Ask(key, quota, 0, true).decision.remaining, 1);
  EXPECT_EQ(Ask(key, quota, 0, true).decision.reset_after, seconds(20));
  fixture_->Advance(seconds(20) - fixture_->resolution());
  EXPECT_EQ(Ask(key, quota, 0, true).decision.remaining, 1);
  fixture_->Advance(fixture_->resolution());
  EXPECT_EQ(Ask(key, quota, 0, true).decision.remaining, 2);
  EXPECT_EQ(Renew(key, quota, kept), StoreError::kNotFound);
  EXPECT_EQ(Ask(key, quota, 2).decision.remaining, 0);
}

// Holds are counted by priority: as they are granted, released and expired, and in whatever list of
// reserves the next check brings.
TEST_P(KeyStoreConformance, EachPriorityHasItsShare) {
  core::Reserves both;
  both.Add("gold", 50);
  both.Add("silver", 50);
  core::Reserves one;
  one.Add("silver", 20);
  const OwnedKey key("shared");
  const auto quota_for = [&](const core::Reserves* reserves, std::string_view priority) {
    Quota quota = QuotaOf(Algorithm::kConcurrency, 10);
    quota.reserves = reserves;
    quota.priority = reserves == nullptr ? core::PriorityTag{0} : reserves->TagOf(priority);
    return quota;
  };
  const Quota gold = quota_for(&both, "gold");
  const Quota silver = quota_for(&both, "silver");
  std::vector<store::HoldId> golds;
  for (int i = 0; i < 5; ++i) {
    const CheckAnswer answer = Ask(key, gold);
    EXPECT_EQ(answer.decision.remaining, 4 - i);
    golds.push_back(answer.hold);
  }
  EXPECT_EQ(Ask(key, gold).decision.reason, Reason::kReserved);
  EXPECT_EQ(Ask(key, quota_for(&both, "")).decision.reason, Reason::kReserved);
  EXPECT_EQ(Ask(key, silver, 0, true).decision.remaining, 5);
  fixture_->Advance(seconds(30));
  EXPECT_TRUE(Ask(key, silver, 4).decision.allowed);
  EXPECT_EQ(Release(key, gold, golds[0]), StoreError::kNone);
  EXPECT_EQ(Ask(key, silver, 0, true).decision.remaining, 1);
  EXPECT_EQ(Ask(key, gold, 0, true).decision.remaining, 1);
  EXPECT_EQ(Ask(key, silver, 2).decision.reason, Reason::kReserved);
  // 4 of gold and 4 of silver are in flight. By another list, and by none:
  EXPECT_EQ(Ask(key, quota_for(&one, "gold"), 0, true).decision.remaining, 2);
  EXPECT_EQ(Ask(key, quota_for(nullptr, ""), 0, true).decision.remaining, 2);
  EXPECT_TRUE(Ask(key, quota_for(nullptr, ""), 1).decision.allowed);
  EXPECT_EQ(Ask(key, gold, 0, true).decision.remaining, 0);
  EXPECT_EQ(Ask(key, gold).decision.reason, Reason::kReserved);
  EXPECT_EQ(Ask(key, silver).decision.reason, Reason::kReserved);
  fixture_->Advance(seconds(30));  // Those of gold expire.
  EXPECT_EQ(Ask(key, silver, 0, true).decision.remaining, 0);
  EXPECT_EQ(Ask(key, gold, 0, true).decision.remaining, 4);
}

TEST_P(KeyStoreConformance, OneHoldOfSeveralUnitsAndSeveralOfOneRequest) {
  const OwnedKey key("h");
  const Quota quota = QuotaOf(Algorithm::kConcurrency, 30);
  OwnedCheckCall call;
  for (int i = 0; i < 9; ++i) {
    call.Add(CheckOf(key, quota, 3));
  }
  Send(call);
  EXPECT_EQ(Ask(key, quota, 0, true).decision.remaining, 3);
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(Release(key, quota, call.own_answers[static_cast<std::size_t>(i)].hold),
              StoreError::kNone);
    EXPECT_EQ(Ask(key, quota, 0, true).decision.remaining, 3 + 3 * (i + 1));
  }
}

// Two tables may have granted holds of one id to one key: whose it is tells them apart.
TEST_P(KeyStoreConformance, AHoldOfAnotherStoreIsNotFound) {
  const OwnedKey key("whose");
  const Quota quota = QuotaOf(Algorithm::kConcurrency, 2);
  const CheckAnswer granted = Ask(key, quota);
  ASSERT_NE(granted.receipt.store_id, 0U);
  EXPECT_EQ(granted.receipt.nonce, 0U);
  support::Answered<store::HoldCall> call;
  call.key = key.view();
  call.quota = quota;
  call.hold = granted.hold;
  call.store_id = granted.receipt.store_id ^ 4;
  fixture_->store().Renew(call);
  fixture_->Pump();
  EXPECT_EQ(call.error, StoreError::kNotFound);
  fixture_->store().Release(call);
  fixture_->Pump();
  EXPECT_EQ(call.error, StoreError::kNotFound);
  call.store_id = granted.receipt.store_id;
  fixture_->store().Release(call);
  fixture_->Pump();
  EXPECT_EQ(call.error, StoreError::kNone);
}

}  // namespace sluice::conformance
