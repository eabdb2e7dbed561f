#include <chrono>
#include <string>

#include "conformance/store/key_store_conformance.h"

// One check at a time, and what time does to it.
namespace sluice::conformance {

using core::Algorithm;
using core::Quota;
using std::chrono::minutes;
using std::chrono::seconds;
using store::CheckAnswer;
using support::OwnedCheckCall;
using support::OwnedKey;

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
    fixture_->StepWallClock(-std::chrono::hours(3));
    EXPECT_FALSE(Ask(key, quota).decision.allowed);
    fixture_->Advance(minutes(2));
    EXPECT_EQ(Drain(key, quota, 100), 6);
    fixture_->StepWallClock(std::chrono::hours(3));
    fixture_->Advance(minutes(2));
  }
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
