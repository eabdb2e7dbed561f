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
  if (algorithm == Algorithm::kConcurrency) {
    quota.ceiling = limit;
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

int KeyStoreConformance::Drain(const OwnedKey& key, const Quota& quota, int most) {
  int passed = 0;
  while (passed < most && Ask(key, quota).decision.allowed) {
    ++passed;
  }
  return passed;
}

TEST_P(KeyStoreConformance, VerbsNotBuiltSaySo) {
  store::KeyStore& store = fixture_->store();
  support::Answered<store::SettleCall> settle;
  store.Settle(settle);
  support::Answered<store::UndoCall> undo;
  store.Undo(undo);
  support::Answered<store::BanCall> ban;
  store.Ban(ban);
  support::Answered<store::BanCall> unban;
  store.Unban(unban);
  fixture_->Pump();
  for (const StoreError error : {settle.error, undo.error, ban.error, unban.error}) {
    EXPECT_EQ(error, StoreError::kUnsupported);
  }
  EXPECT_EQ(settle.answers_got + undo.answers_got + ban.answers_got + unban.answers_got, 4);
}

}  // namespace sluice::conformance
