#include <chrono>
#include <limits>

#include "conformance/store/key_store_conformance.h"

// What gives back: refunds, with and without a receipt, and resets.
namespace sluice::conformance {

using core::Algorithm;
using core::Quota;
using std::chrono::minutes;
using support::OwnedCheckCall;
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

TEST_P(KeyStoreConformance, AReceiptComesTooLateAfterTheWindow) {
  for (const Algorithm algorithm : kMetered) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("late");
    const Quota quota = QuotaOf(algorithm, 10);
    OwnedCheckCall call;
    store::Check check = CheckOf(key, quota, 4);
    check.want_receipt = true;
    call.Add(check);
    Send(call);
    const store::Receipt receipt = call.own_answers[0].receipt;
    EXPECT_NE(receipt.nonce, 0U);
    fixture_->Advance(minutes(1));
    EXPECT_TRUE(Ask(key, quota, 5).decision.allowed);
    const Units left = Ask(key, quota, 0, true).decision.remaining;
    support::Answered<store::RefundCall> refund;
    refund.key = key.view();
    refund.quota = quota;
    refund.units = 4;
    refund.receipt = &receipt;
    fixture_->store().Refund(refund);
    fixture_->Pump();
    EXPECT_EQ(Ask(key, quota, 0, true).decision.remaining, left);
  }
}

TEST_P(KeyStoreConformance, AReceiptThatNobodyGaveOutRefundsNothing) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const Algorithm algorithm : kMetered) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("forged");
    const Quota quota = QuotaOf(algorithm, 10);
    OwnedCheckCall call;
    store::Check check = CheckOf(key, quota, 4);
    check.want_receipt = true;
    call.Add(check);
    Send(call);
    const std::int64_t now = call.own_answers[0].receipt.charged_at_ns;
    for (const store::Receipt& receipt :
         {store::Receipt{.charged_at_ns = kLeast, .nonce = 1},
          store::Receipt{.charged_at_ns = -1, .nonce = 1},
          store::Receipt{.charged_at_ns = 0, .nonce = 1},
          store::Receipt{.charged_at_ns = now, .nonce = 0},
          store::Receipt{.charged_at_ns = now + 1'000'000'000, .nonce = 1},
          store::Receipt{.charged_at_ns = kMost, .nonce = 1}}) {
      support::Answered<store::RefundCall> refund;
      refund.key = key.view();
      refund.quota = quota;
      refund.units = 4;
      refund.receipt = &receipt;
      fixture_->store().Refund(refund);
      fixture_->Pump();
      EXPECT_EQ(Ask(key, quota, 0, true).decision.remaining, 6) << receipt.charged_at_ns;
    }
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

}  // namespace sluice::conformance
