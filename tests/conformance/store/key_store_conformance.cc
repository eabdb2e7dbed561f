#include "conformance/store/key_store_conformance.h"

#include <array>
#include <chrono>

namespace sluice::conformance {

using core::Algorithm;
using core::Quota;
using std::chrono::minutes;
using store::CheckAnswer;
using store::StoreError;
using support::OwnedCheckCall;
using support::OwnedKey;

store::Check CheckOf(const OwnedKey& key, const Quota& quota, Units cost, bool shadow) {
  return {.key = key.view(),
          .quota = quota,
          .cost = Cost{cost},
          .shadow = shadow,
          .want_receipt = false};
}

Quota QuotaOf(Algorithm algorithm, Units limit) {
  Quota quota;
  quota.algorithm = algorithm;
  quota.limit = limit;
  quota.window = minutes(1);
  if (core::IsBucket(algorithm)) {
    quota.rate = limit;
  }
  return quota;
}

CheckAnswer KeyStoreConformance::Ask(const OwnedKey& key, const Quota& quota, Units cost,
                                     bool peek) {
  OwnedCheckCall call;
  call.Add(CheckOf(key, quota, cost));
  call.peek = peek;
  Send(call);
  return call.own_answers[0];
}

void KeyStoreConformance::Send(OwnedCheckCall& call) {
  const std::array<store::CheckCall*, 1> batch{&call};
  fixture_->store().CheckMany(batch);
  fixture_->Pump();
  ASSERT_EQ(call.answers_got, 1);
}

void KeyStoreConformance::Refund(const OwnedKey& key, const Quota& quota, Units units) {
  support::Answered<store::RefundCall> call;
  call.key = key.view();
  call.quota = quota;
  call.units = units;
  fixture_->store().Refund(call);
  fixture_->Pump();
  EXPECT_EQ(call.answers_got, 1);
  EXPECT_EQ(call.error, StoreError::kNone);
}

void KeyStoreConformance::Reset(const OwnedKey& key, const Quota& quota) {
  support::Answered<store::ResetCall> call;
  call.key = key.view();
  call.quota = quota;
  fixture_->store().Reset(call);
  fixture_->Pump();
  EXPECT_EQ(call.answers_got, 1);
  EXPECT_EQ(call.error, StoreError::kNone);
}

StoreError KeyStoreConformance::Release(const OwnedKey& key, const Quota& quota,
                                        store::HoldId hold) {
  support::Answered<store::HoldCall> call;
  call.key = key.view();
  call.quota = quota;
  call.hold = hold;
  fixture_->store().Release(call);
  fixture_->Pump();
  EXPECT_EQ(call.answers_got, 1);
  return call.error;
}

StoreError KeyStoreConformance::Renew(const OwnedKey& key, const Quota& quota, store::HoldId hold) {
  support::Answered<store::HoldCall> call;
  call.key = key.view();
  call.quota = quota;
  call.hold = hold;
  fixture_->store().Renew(call);
  fixture_->Pump();
  EXPECT_EQ(call.answers_got, 1);
  return call.error;
}

store::Receipt KeyStoreConformance::Charge(const OwnedKey& key, const Quota& quota, Units cost) {
  support::OwnedCheckCall call;
  store::Check check = CheckOf(key, quota, cost);
  check.want_receipt = true;
  call.Add(check);
  Send(call);
  EXPECT_TRUE(call.own_answers[0].charged);
  EXPECT_NE(call.own_answers[0].receipt.nonce, 0U);
  return call.own_answers[0].receipt;
}

KeyStoreConformance::Settled KeyStoreConformance::Settle(const OwnedKey& key, const Quota& quota,
                                                         const store::Receipt& receipt,
                                                         Units charged, Units units,
                                                         Duration open_for) {
  support::Answered<store::SettleCall> call;
  call.key = key.view();
  call.quota = quota;
  call.receipt = receipt;
  call.charged = charged;
  call.units = units;
  call.open_for = open_for;
  fixture_->store().Settle(call);
  fixture_->Pump();
  EXPECT_EQ(call.answers_got, 1);
  return {.error = call.error, .units = call.settled};
}

int KeyStoreConformance::Drain(const OwnedKey& key, const Quota& quota, int most) {
  int passed = 0;
  while (passed < most && Ask(key, quota).decision.allowed) {
    ++passed;
  }
  return passed;
}

}  // namespace sluice::conformance
