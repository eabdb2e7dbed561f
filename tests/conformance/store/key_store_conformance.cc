#include "conformance/store/key_store_conformance.h"

#include <array>
#include <chrono>
#include <limits>
#include <vector>

namespace sluice::conformance {

using core::Algorithm;
using core::Quota;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using store::Atomicity;
using store::CheckAnswer;
using store::StoreError;
using support::OwnedCheckCall;
using support::OwnedKey;

namespace {

constexpr std::array kAll{Algorithm::kFixedWindow,          Algorithm::kSlidingWindowLog,
                          Algorithm::kSlidingWindowCounter, Algorithm::kSlidingWindow,
                          Algorithm::kTokenBucket,          Algorithm::kGcra,
                          Algorithm::kLeakyBucket,          Algorithm::kConcurrency};
// Those whose use wears off or is refunded rather than released.
constexpr std::array kMetered{Algorithm::kFixedWindow,          Algorithm::kSlidingWindowLog,
                              Algorithm::kSlidingWindowCounter, Algorithm::kSlidingWindow,
                              Algorithm::kTokenBucket,          Algorithm::kGcra,
                              Algorithm::kLeakyBucket};

store::Check CheckOf(const OwnedKey& key, const Quota& quota, Units cost, bool shadow = false) {
  return {.key = key.view(),
          .quota = quota,
          .cost = Cost{cost},
          .shadow = shadow,
          .want_receipt = false};
}

}  // namespace

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

int KeyStoreConformance::Drain(const OwnedKey& key, const Quota& quota, int most) {
  int passed = 0;
  while (passed < most && Ask(key, quota).decision.allowed) {
    ++passed;
  }
  return passed;
}

TEST_P(KeyStoreConformance, GrantsExactlyNPerN) {
  for (const Algorithm algorithm : kAll) {
    SCOPED_TRACE(core::NameOf(algorithm));
    for (const Units n : {Units{1}, Units{2}, Units{10}, Units{100}}) {
      const OwnedKey key("n" + std::to_string(n));
      const Quota quota = QuotaOf(algorithm, n);
      for (Units i = 1; i <= n; ++i) {
        const CheckAnswer answer = Ask(key, quota);
        ASSERT_TRUE(answer.decision.allowed) << i;
        EXPECT_TRUE(answer.charged);
        EXPECT_EQ(answer.decision.remaining, n - i);
        EXPECT_EQ(answer.decision.limit, n);
      }
      const CheckAnswer denied = Ask(key, quota);
      EXPECT_FALSE(denied.decision.allowed);
      EXPECT_FALSE(denied.charged);
      EXPECT_EQ(denied.decision.remaining, 0);
      EXPECT_GT(denied.decision.retry_after, Duration(0));
    }
  }
}

TEST_P(KeyStoreConformance, WaitingExactlyRetryAfterPassesAndNoLess) {
  for (const Algorithm algorithm : kMetered) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("w");
    const Quota quota = QuotaOf(algorithm, 7);
    ASSERT_EQ(Drain(key, quota, 100), 7);
    fixture_->Advance(Duration(1'234'567));
    const Duration wait = Ask(key, quota).decision.retry_after;
    fixture_->Advance(wait - fixture_->resolution());
    EXPECT_FALSE(Ask(key, quota).decision.allowed);
    fixture_->Advance(fixture_->resolution());
    EXPECT_TRUE(Ask(key, quota).decision.allowed);
  }
}

TEST_P(KeyStoreConformance, DenialAndPeekAndCostZeroChangeNothing) {
  for (const Algorithm algorithm : kAll) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("q");
    const Quota quota = QuotaOf(algorithm, 10);
    EXPECT_TRUE(Ask(key, quota, 4).decision.allowed);
    for (int i = 0; i < 20; ++i) {
      const CheckAnswer denied = Ask(key, quota, 7);
      EXPECT_FALSE(denied.decision.allowed);
      EXPECT_EQ(denied.decision.remaining, 6);
      const CheckAnswer peeked = Ask(key, quota, 6, true);
      EXPECT_TRUE(peeked.decision.allowed);
      EXPECT_EQ(peeked.decision.remaining, 6);
      EXPECT_FALSE(peeked.charged);
      const CheckAnswer free = Ask(key, quota, 0);
      EXPECT_TRUE(free.decision.allowed);
      EXPECT_FALSE(free.charged);
      EXPECT_EQ(free.hold, 0U);
    }
    EXPECT_TRUE(Ask(key, quota, 6).decision.allowed);
    EXPECT_FALSE(Ask(key, quota, 1).decision.allowed);
  }
}

TEST_P(KeyStoreConformance, PeekOnAKeyNeverSeenShowsItsWholeQuota) {
  for (const Algorithm algorithm : kAll) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const CheckAnswer answer = Ask(OwnedKey("new"), QuotaOf(algorithm, 5), 5, true);
    EXPECT_TRUE(answer.decision.allowed);
    EXPECT_EQ(answer.decision.remaining, 5);
    EXPECT_EQ(answer.decision.reset_after, Duration(0));
    const CheckAnswer never = Ask(OwnedKey("new"), QuotaOf(algorithm, 5), 6, true);
    EXPECT_FALSE(never.decision.allowed);
    EXPECT_EQ(never.decision.reason, Reason::kCostExceedsCapacity);
    EXPECT_EQ(never.decision.retry_after, Decision::kNever);
  }
}

TEST_P(KeyStoreConformance, LimitZeroDeniesForEverAndUnlimitedLetsAllPass) {
  for (const Algorithm algorithm : kAll) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const CheckAnswer denied = Ask(OwnedKey("z"), QuotaOf(algorithm, 0), 0);
    EXPECT_FALSE(denied.decision.allowed);
    EXPECT_EQ(denied.decision.reason, Reason::kLimitZero);
    EXPECT_EQ(denied.decision.retry_after, Decision::kNever);
    Quota unlimited;
    unlimited.algorithm = algorithm;
    unlimited.unlimited = true;
    const CheckAnswer passed = Ask(OwnedKey("z"), unlimited, kMaxUnits);
    EXPECT_TRUE(passed.decision.allowed);
    EXPECT_EQ(passed.decision.limit, kUnlimited);
  }
}

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

TEST_P(KeyStoreConformance, FormerlyMovesTheStateAtTheFirstCharge) {
  for (const Algorithm algorithm : kAll) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey old_key("m", "old");
    const OwnedKey new_key("m", "new", "old");
    const OwnedKey new_alone("m", "new");
    const Quota quota = QuotaOf(algorithm, 20);
    EXPECT_EQ(Drain(old_key, quota, 12), 12);
    EXPECT_EQ(Ask(new_key, quota, 0, true).decision.remaining, 8);
    EXPECT_EQ(Ask(old_key, quota, 0, true).decision.remaining, 8);  // A peek only reads.
    EXPECT_EQ(Ask(new_key, quota).decision.remaining, 7);
    EXPECT_EQ(Ask(new_alone, quota, 0, true).decision.remaining, 7);
    EXPECT_EQ(Ask(old_key, quota, 0, true).decision.remaining, 20);
    EXPECT_EQ(Drain(new_key, quota, 100), 7);
    Reset(new_key, quota);
    EXPECT_EQ(Drain(new_key, quota, 100), 20);
  }
}

TEST_P(KeyStoreConformance, AStateThatIsOverDoesNotHideTheFormerIdsOne) {
  for (const Algorithm algorithm : {Algorithm::kGcra, Algorithm::kSlidingWindowLog}) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey old_key("h", "old");
    const OwnedKey new_key("h", "new", "old");
    const OwnedKey new_alone("h", "new");
    const Quota quota = QuotaOf(algorithm, 20);
    fixture_->Advance(milliseconds(300));  // Stores may round what they forget by to seconds.
    const Duration over = Ask(new_alone, quota).decision.reset_after;
    fixture_->Advance(over - milliseconds(1));
    EXPECT_EQ(Drain(old_key, quota, 12), 12);
    fixture_->Advance(milliseconds(1));
    EXPECT_EQ(Ask(new_key, quota, 0, true).decision.remaining, 8);
    Refund(new_key, quota, 2);
    EXPECT_EQ(Ask(new_key, quota, 0, true).decision.remaining, 10);
    EXPECT_EQ(Ask(new_key, quota).decision.remaining, 9);
    EXPECT_EQ(Ask(new_alone, quota, 0, true).decision.remaining, 9);
  }
}

TEST_P(KeyStoreConformance, AnotherShapeOrPartIsAnotherKey) {
  const OwnedKey key("k");
  for (const Algorithm algorithm : kAll) {
    EXPECT_EQ(Drain(key, QuotaOf(algorithm, 3), 100), 3) << core::NameOf(algorithm);
  }
  Quota hour = QuotaOf(Algorithm::kFixedWindow, 3);
  hour.window = std::chrono::hours(1);
  EXPECT_EQ(Drain(key, hour, 100), 3);
  Quota segments = QuotaOf(Algorithm::kSlidingWindow, 3);
  segments.segments = 4;
  EXPECT_EQ(Drain(key, segments, 100), 3);
  // strict and shape change how it is judged, not whose it is.
  Quota strict = QuotaOf(Algorithm::kSlidingWindow, 3);
  strict.strict = true;
  EXPECT_FALSE(Ask(key, strict).decision.allowed);

  const Quota one = QuotaOf(Algorithm::kGcra, 1);
  EXPECT_TRUE(Ask(OwnedKey(""), one).decision.allowed);
  EXPECT_FALSE(Ask(OwnedKey(""), one).decision.allowed);
  EXPECT_TRUE(Ask(OwnedKey(std::string("\0", 1)), one).decision.allowed);
  EXPECT_TRUE(Ask(OwnedKey("\xff{}:*"), one).decision.allowed);
  EXPECT_TRUE(Ask(OwnedKey(std::string(1024, 'x')), one).decision.allowed);
  EXPECT_FALSE(Ask(OwnedKey(std::string(1024, 'x')), one).decision.allowed);
  EXPECT_TRUE(Ask(OwnedKey(std::string(1023, 'x')), one).decision.allowed);
  // (a, b:c) is not (a:b, c), and an address is not its text.
  const auto ask_pair = [&](std::string_view a, std::string_view b, core::AttributeType type) {
    const std::array parts{core::KeyPart{.attribute = "p", .type = type, .value = a},
                           core::KeyPart{.attribute = "q", .value = b}};
    OwnedCheckCall call;
    call.Add({.key = {.rule = "r", .formerly = {}, .parts = parts}, .quota = one, .cost = {}});
    Send(call);
    return call.own_answers[0].decision.allowed;
  };
  EXPECT_TRUE(ask_pair("a", "b:c", core::AttributeType::kText));
  EXPECT_TRUE(ask_pair("a:b", "c", core::AttributeType::kText));
  EXPECT_TRUE(ask_pair("ab", ":c", core::AttributeType::kText));
  EXPECT_TRUE(ask_pair("a", "b:c", core::AttributeType::kIp));
  EXPECT_FALSE(ask_pair("a", "b:c", core::AttributeType::kText));
}

TEST_P(KeyStoreConformance, ANewLimitJudgesTheSameUse) {
  for (const Algorithm algorithm : kAll) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("c");
    EXPECT_EQ(Drain(key, QuotaOf(algorithm, 10), 100), 10);
    EXPECT_EQ(Drain(key, QuotaOf(algorithm, 20), 100), 10);
    const CheckAnswer lowered = Ask(key, QuotaOf(algorithm, 5));
    EXPECT_FALSE(lowered.decision.allowed);
    EXPECT_EQ(lowered.decision.remaining, 0);
  }
}

TEST_P(KeyStoreConformance, ForgettingLosesNothing) {
  for (const Algorithm algorithm : kAll) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("g");
    const Quota quota = QuotaOf(algorithm, 12);
    EXPECT_EQ(Drain(key, quota, 100), 12);
    const Duration reset = Ask(key, quota, 0, true).decision.reset_after;
    ASSERT_GT(reset, Duration(0));
    fixture_->Advance(reset - fixture_->resolution());
    EXPECT_GT(Ask(key, quota, 0, true).decision.reset_after, Duration(0));
    fixture_->Advance(fixture_->resolution());
    const CheckAnswer fresh = Ask(key, quota, 0, true);
    EXPECT_EQ(fresh.decision.remaining, 12);
    EXPECT_EQ(fresh.decision.reset_after, Duration(0));
    EXPECT_EQ(Drain(key, quota, 100), 12);
  }
}

TEST_P(KeyStoreConformance, AStepBackOfTheWallGrantsNothingAndLocksNobodyOut) {
  for (const Algorithm algorithm : kMetered) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("v");
    const Quota quota = QuotaOf(algorithm, 6);
    EXPECT_EQ(Drain(key, quota, 100), 6);
    fixture_->StepWall(-std::chrono::hours(3));
    EXPECT_FALSE(Ask(key, quota).decision.allowed);
    fixture_->Advance(minutes(2));
    EXPECT_EQ(Drain(key, quota, 100), 6);
    fixture_->StepWall(std::chrono::hours(3));
    fixture_->Advance(minutes(2));
  }
}

TEST_P(KeyStoreConformance, VerbsNotBuiltSaySo) {
  store::KeyStore& store = fixture_->store();
  support::Answered<store::HoldCall> renew;
  store.Renew(renew);
  support::Answered<store::SettleCall> settle;
  store.Settle(settle);
  support::Answered<store::UndoCall> undo;
  store.Undo(undo);
  support::Answered<store::BanCall> ban;
  store.Ban(ban);
  support::Answered<store::BanCall> unban;
  store.Unban(unban);
  fixture_->Pump();
  for (const StoreError error : {renew.error, settle.error, undo.error, ban.error, unban.error}) {
    EXPECT_EQ(error, StoreError::kUnsupported);
  }
  EXPECT_EQ(renew.answers_got + settle.answers_got + undo.answers_got + ban.answers_got +
                unban.answers_got,
            5);
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

TEST_P(KeyStoreConformance, SaysTheWallsTime) {
  const OwnedKey key("n");
  OwnedCheckCall first;
  first.Add(CheckOf(key, QuotaOf(Algorithm::kGcra, 1), 1));
  Send(first);
  fixture_->Advance(seconds(5));
  OwnedCheckCall second;
  second.Add(CheckOf(key, QuotaOf(Algorithm::kGcra, 1), 1));
  Send(second);
  EXPECT_EQ(second.now - first.now, seconds(5));
}

}  // namespace sluice::conformance
