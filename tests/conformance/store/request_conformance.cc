#include <string>
#include <vector>

#include "conformance/store/key_store_conformance.h"

// Several checks in one call, several calls in one batch.
namespace sluice::conformance {

using core::Algorithm;
using core::Quota;
using store::Atomicity;
using store::StoreError;
using support::OwnedCheckCall;
using support::OwnedKey;

TEST_P(KeyStoreConformance, AllOrNothingChargesNobodyWhenOneDenies) {
  for (const Algorithm algorithm : kAll) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey wide("a", "wide");
    const OwnedKey narrow("a", "narrow");
    const Quota ten = QuotaOf(algorithm, 10);
    const Quota one = QuotaOf(algorithm, 1);
    int passed = 0;
    for (int i = 0; i < 10; ++i) {
      OwnedCheckCall call;
      call.Add(CheckOf(wide, ten, 1));
      call.Add(CheckOf(narrow, one, 1));
      Send(call);
      if (call.own_answers[1].decision.allowed) {
        ++passed;
        continue;
      }
      EXPECT_TRUE(call.own_answers[0].decision.allowed);
      EXPECT_FALSE(call.own_answers[0].charged);
      EXPECT_EQ(call.own_answers[0].decision.remaining, 9);
      EXPECT_EQ(call.own_answers[0].hold, 0U);
    }
    EXPECT_EQ(passed, 1);
    EXPECT_EQ(Ask(wide, ten, 0, true).decision.remaining, 9);
  }
}

TEST_P(KeyStoreConformance, EachJudgesEveryCheckForItself) {
  for (const Algorithm algorithm : kAll) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey wide("e", "wide");
    const OwnedKey narrow("e", "narrow");
    for (int i = 0; i < 3; ++i) {
      OwnedCheckCall call;
      call.atomicity = Atomicity::kEach;
      call.Add(CheckOf(narrow, QuotaOf(algorithm, 1), 1));
      call.Add(CheckOf(wide, QuotaOf(algorithm, 10), 2));
      Send(call);
      EXPECT_EQ(call.own_answers[0].decision.allowed, i == 0);
      EXPECT_TRUE(call.own_answers[1].charged);
      EXPECT_EQ(call.own_answers[1].decision.remaining, 10 - 2 * (i + 1));
    }
  }
}

TEST_P(KeyStoreConformance, ShadowNeverAffectsOthersAndIsChargedOnlyWithThem) {
  for (const Algorithm algorithm : kAll) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey enforced("s", "enforced");
    const OwnedKey shadow("s", "shadow");
    const Quota two = QuotaOf(algorithm, 2);
    const Quota three = QuotaOf(algorithm, 3);
    for (int i = 1; i <= 3; ++i) {
      OwnedCheckCall call;
      call.Add(CheckOf(shadow, three, 1, true));
      call.Add(CheckOf(enforced, two, 1));
      Send(call);
      EXPECT_EQ(call.own_answers[1].decision.allowed, i <= 2);
      EXPECT_FALSE(call.own_answers[1].decision.shadow);
      EXPECT_TRUE(call.own_answers[0].decision.shadow);
      EXPECT_TRUE(call.own_answers[0].decision.allowed);
      EXPECT_EQ(call.own_answers[0].charged, i <= 2);
    }
    EXPECT_EQ(Ask(shadow, three, 0, true).decision.remaining, 1);
    // A shadow that would deny lets the enforced one be charged.
    const OwnedKey other("s", "other");
    OwnedCheckCall call;
    call.Add(CheckOf(other, QuotaOf(algorithm, 5), 1));
    call.Add(CheckOf(shadow, three, 2, true));
    Send(call);
    EXPECT_TRUE(call.own_answers[0].charged);
    EXPECT_FALSE(call.own_answers[1].decision.allowed);
    EXPECT_FALSE(call.own_answers[1].charged);
  }
}

TEST_P(KeyStoreConformance, OneKeyTwiceSeesItsOwnCharge) {
  for (const Algorithm algorithm : kAll) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("t");
    const Quota quota = QuotaOf(algorithm, 5);
    OwnedCheckCall peek;
    peek.peek = true;
    peek.Add(CheckOf(key, quota, 3));
    peek.Add(CheckOf(key, quota, 3));
    Send(peek);
    EXPECT_TRUE(peek.own_answers[0].decision.allowed);
    EXPECT_FALSE(peek.own_answers[1].decision.allowed);
    EXPECT_EQ(peek.own_answers[1].decision.remaining, 5);
    OwnedCheckCall denied;
    denied.Add(CheckOf(key, quota, 3));
    denied.Add(CheckOf(key, quota, 3));
    Send(denied);
    EXPECT_FALSE(denied.own_answers[1].decision.allowed);
    EXPECT_EQ(denied.own_answers[0].decision.remaining, 5);
    EXPECT_FALSE(denied.own_answers[0].charged);
    OwnedCheckCall call;
    call.Add(CheckOf(key, quota, 3));
    call.Add(CheckOf(key, quota, 2));
    Send(call);
    EXPECT_EQ(call.own_answers[0].decision.remaining, 2);
    EXPECT_EQ(call.own_answers[1].decision.remaining, 0);
    EXPECT_TRUE(call.own_answers[1].charged);
    EXPECT_FALSE(Ask(key, quota).decision.allowed);
  }
}

TEST_P(KeyStoreConformance, ABatchIsJudgedInItsOrderAndAnsweredOnceEach) {
  const OwnedKey key("b");
  const Quota quota = QuotaOf(Algorithm::kGcra, 100);
  std::vector<OwnedCheckCall> calls(150);
  std::vector<store::CheckCall*> batch;
  for (OwnedCheckCall& call : calls) {
    call.Add(CheckOf(key, quota, 1));
    batch.push_back(&call);
  }
  fixture_->store().CheckMany(batch);
  fixture_->Pump();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(calls[i].answers_got, 1);
    EXPECT_EQ(calls[i].error, StoreError::kNone);
    EXPECT_EQ(calls[i].own_answers[0].decision.allowed, i < 100) << i;
  }
}

TEST_P(KeyStoreConformance, AnswersKeepTheOrderOfChecks) {
  OwnedCheckCall call;
  std::vector<std::unique_ptr<OwnedKey>> keys;
  for (int i = 0; i < 40; ++i) {
    keys.push_back(std::make_unique<OwnedKey>(std::to_string(i * 7919 % 40)));
    call.Add(CheckOf(*keys.back(), QuotaOf(Algorithm::kFixedWindow, 100 + i), 1));
  }
  Send(call);
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(call.own_answers[static_cast<std::size_t>(i)].decision.limit, 100 + i);
    EXPECT_EQ(call.own_answers[static_cast<std::size_t>(i)].decision.remaining, 99 + i);
  }
}

TEST_P(KeyStoreConformance, ACallWithTooManyChecksIsRefusedWhole) {
  const OwnedKey key("many");
  const Quota quota = QuotaOf(Algorithm::kGcra, 1000);
  OwnedCheckCall call;
  for (std::size_t i = 0; i <= store::kMaxChecksPerCall; ++i) {
    call.Add(CheckOf(key, quota, 1));
  }
  Send(call);
  EXPECT_EQ(call.error, StoreError::kUnsupported);
  EXPECT_EQ(Ask(key, quota, 0, true).decision.remaining, 1000);
  OwnedCheckCall fits;
  for (std::size_t i = 0; i < store::kMaxChecksPerCall; ++i) {
    fits.Add(CheckOf(key, quota, 1));
  }
  Send(fits);
  EXPECT_EQ(Ask(key, quota, 0, true).decision.remaining, 936);
}

}  // namespace sluice::conformance
