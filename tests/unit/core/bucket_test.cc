#include "core/bucket.h"

#include <cstring>

#include <gtest/gtest.h>

#include "unit/core/steps.h"

namespace sluice::core {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

using Token = SteppedKey<Bucket<TableClock>>;

Quota Rate(Units rate, Duration window, Units burst,
           Algorithm algorithm = Algorithm::kTokenBucket) {
  Quota quota;
  quota.algorithm = algorithm;
  quota.limit = burst;
  quota.rate = rate;
  quota.window = window;
  EXPECT_EQ(FaultOf(quota), std::nullopt);
  return quota;
}

template <class State>
bool SameBytes(const State& a, const State& b) {
  return std::memcmp(&a, &b, sizeof(State)) == 0;
}

// token_bucket, gcra and leaky_bucket are one class; the traces hold for each name.
class BucketTest : public testing::TestWithParam<Algorithm> {
 protected:
  static Token Make(Units rate, Duration window, Units burst) {
    return Token(Rate(rate, window, burst, GetParam()));
  }
};

INSTANTIATE_TEST_SUITE_P(Names, BucketTest,
                         testing::Values(Algorithm::kTokenBucket, Algorithm::kGcra,
                                         Algorithm::kLeakyBucket),
                         [](const auto& name) { return std::string(NameOf(name.param)); });

TEST_P(BucketTest, TraceOfCapacityTenAtTwoASecond) {
  Token key = Make(2, 1s, 10);
  EXPECT_EQ(key.Check(0s).remaining, 9);
  EXPECT_EQ(key.Check(200ms).remaining, 8);        // 8.4
  EXPECT_EQ(key.CountAllowed(300ms, 9), 8);        // 8.6 tokens
  EXPECT_EQ(key.Check(300ms).retry_after, 200ms);  // 0.6 stay
  EXPECT_EQ(key.Check(2800ms).remaining, 4);       // 4.6
  EXPECT_EQ(key.Check(5800ms).remaining, 9);
}

TEST_P(BucketTest, TraceOfCapacityHundredAtFiftyASecond) {
  Token key = Make(50, 1s, 100);
  EXPECT_EQ(key.CountAllowed(0s, 130), 100);
  EXPECT_EQ(key.Check(0s).retry_after, 20ms);
  EXPECT_FALSE(key.Check(20ms - 1ns).allowed);
  EXPECT_TRUE(key.Check(20ms).allowed);
}

TEST_P(BucketTest, ForgetsNothingBeforeItIsFull) {  // A1
  Token key = Make(1, 1s, 20);
  EXPECT_EQ(key.CountAllowed(0s, 20), 20);
  EXPECT_EQ(Bucket<TableClock>::Expiry(key.quota, key.state), TableInstant(20s));
  EXPECT_EQ(key.CountAllowed(3200ms, 5), 3);
}

TEST_P(BucketTest, PassesExactlyTheBurst) {  // A5
  for (const Units burst : {1, 2, 10}) {
    Token key = Make(burst, 1h, burst);
    for (Units k = 1; k <= burst; ++k) {
      const Decision decision = key.Check(0s);
      EXPECT_TRUE(decision.allowed);
      EXPECT_EQ(decision.remaining, burst - k);
      EXPECT_EQ(decision.limit, burst);
    }
    EXPECT_FALSE(key.Check(0s).allowed);
  }
}

TEST_P(BucketTest, AgreesWithItsOwnRetryAfterAtTheBoundary) {  // A6, A14
  Token key = Make(1, 1s, 1);
  const Decision first = key.Check(0s);
  EXPECT_TRUE(first.allowed);
  EXPECT_EQ(first.reset_after, 1s);
  EXPECT_EQ(key.Check(1ms).retry_after, 999ms);
  EXPECT_EQ(key.Check(999ms).retry_after, 1ms);
  EXPECT_EQ(key.Check(1s - 1ns).retry_after, 1ns);
  EXPECT_TRUE(key.Check(1s).allowed);

  Token tenth = Make(10, 1s, 1);
  EXPECT_TRUE(tenth.Check(0s).allowed);
  EXPECT_EQ(tenth.Check(50ms).retry_after, 50ms);
  EXPECT_EQ(tenth.Check(99ms).retry_after, 1ms);
  EXPECT_TRUE(tenth.Check(100ms).allowed);
}

TEST_P(BucketTest, NeverPassesACostAboveTheBurst) {  // A7
  Token key = Make(10, 1s, 10);
  const Decision decision = key.Check(0s, 11);
  EXPECT_FALSE(decision.allowed);
  EXPECT_EQ(decision.reason, Reason::kCostExceedsCapacity);
  EXPECT_EQ(decision.retry_after, Decision::kNever);
  EXPECT_EQ(decision.remaining, 10);
  EXPECT_TRUE(SameBytes(key.state, {}));
  EXPECT_TRUE(key.Check(0s, 10).allowed);
}

TEST_P(BucketTest, DoesNotOverflowAfterIdling) {  // A10
  Token key = Make(1'000'000'000, 1s, 1'000'000'000);
  EXPECT_TRUE(key.Check(0s).allowed);
  EXPECT_EQ(key.Peek(400 * 24h).remaining, 1'000'000'000);
  EXPECT_EQ(key.Check(36'500 * 24h).remaining, 999'999'999);

  Token most = Make(kMaxUnits, kLongestHorizon, kMaxUnits);
  EXPECT_EQ(most.Check(0s, kMaxUnits).reset_after, kLongestHorizon);
  EXPECT_EQ(most.Peek(kLongestHorizon - 1ns).remaining, kMaxUnits - 1);
  EXPECT_EQ(most.Peek(kLongestHorizon).remaining, kMaxUnits);
}

TEST_P(BucketTest, KeepsRatesThatAreNoWholePeriod) {  // A11
  Token sixty_ms = Make(1000, 60s, 1);
  EXPECT_TRUE(sixty_ms.Check(0s).allowed);
  EXPECT_FALSE(sixty_ms.Check(59ms).allowed);
  EXPECT_TRUE(sixty_ms.Check(60ms).allowed);

  Token a_minute = Make(1, 60s, 1);
  EXPECT_TRUE(a_minute.Check(0s).allowed);
  EXPECT_FALSE(a_minute.Check(59'999ms).allowed);
  EXPECT_TRUE(a_minute.Check(60s).allowed);

  int with_two = 0;
  int with_one = 0;
  Token two = Make(3, 1s, 2);
  Token one = Make(3, 1s, 1);
  for (int ms = 0; ms < 1'000'000; ++ms) {
    with_two += two.Check(std::chrono::milliseconds(ms)).allowed ? 1 : 0;
    with_one += one.Check(std::chrono::milliseconds(ms)).allowed ? 1 : 0;
  }
  EXPECT_EQ(with_two, 3001);
  EXPECT_EQ(with_one, 2995);
}

TEST_P(BucketTest, DeniesAllWhenBurstOrRateIsZero) {  // A12
  for (const auto& [rate, burst] : {std::pair<Units, Units>{0, 5}, {5, 0}, {0, 0}}) {
    Token key = Make(rate, 1s, burst);
    for (const Units cost : {0, 1, 7}) {
      const Decision decision = key.Check(0s, cost);
      EXPECT_FALSE(decision.allowed);
      EXPECT_EQ(decision.reason, Reason::kLimitZero);
      EXPECT_EQ(decision.retry_after, Decision::kNever);
      EXPECT_EQ(decision.remaining, 0);
    }
  }
}

TEST_P(BucketTest, PassesEverythingWhenUnlimited) {
  Quota quota;
  quota.algorithm = GetParam();
  quota.unlimited = true;
  Token key(quota);
  const Decision decision = key.Check(0s, kMaxUnits);
  EXPECT_TRUE(decision.allowed);
  EXPECT_EQ(decision.limit, kUnlimited);
  EXPECT_EQ(decision.remaining, kUnlimited);
  EXPECT_TRUE(SameBytes(key.state, {}));
}

TEST_P(BucketTest, CostZeroChangesNothing) {  // A13
  Token key = Make(1, 1s, 3);
  key.Check(0s, 2);
  const auto before = key.state;
  const Decision decision = key.Check(500ms, 0);
  EXPECT_TRUE(decision.allowed);
  EXPECT_EQ(decision.remaining, 1);
  EXPECT_TRUE(SameBytes(key.state, before));
}

TEST_P(BucketTest, RefundsUpToTheWholeQuotaAndNoFurther) {  // A13
  Token key = Make(1, 1h, 10);
  key.Check(0s, 2);
  key.Refund(0s, 5);
  EXPECT_EQ(key.Peek(0s).remaining, 10);
  EXPECT_TRUE(SameBytes(key.state, {}));

  key.Check(0s, 6);
  key.Refund(30min, 2);
  EXPECT_EQ(key.Peek(30min).remaining, 6);  // 3.5 owed
  EXPECT_EQ(key.Peek(1h).remaining, 7);
  EXPECT_EQ(key.Peek(30min).reset_after, 3h + 30min);
}

TEST_P(BucketTest, DenialsDoNotMoveTheClock) {  // A21
  Token key = Make(1, 1s, 1);
  EXPECT_TRUE(key.Check(0s).allowed);
  const auto before = key.state;
  for (int ms = 1; ms < 1000; ++ms) {
    EXPECT_FALSE(key.Check(std::chrono::milliseconds(ms)).allowed);
  }
  EXPECT_TRUE(SameBytes(key.state, before));
  EXPECT_TRUE(key.Check(1s).allowed);
}

TEST_P(BucketTest, JudgesTheSameUseByNewNumbers) {
  Token key = Make(10, 1h, 10);
  EXPECT_EQ(key.CountAllowed(0s, 11), 10);
  key.quota.limit = 20;
  key.quota.rate = 20;
  EXPECT_EQ(key.CountAllowed(0s, 11), 10);
  key.quota.limit = 5;
  key.quota.rate = 10;
  const Decision decision = key.Check(0s);
  EXPECT_FALSE(decision.allowed);
  EXPECT_EQ(decision.remaining, 0);
  EXPECT_EQ(decision.retry_after, 1h);  // 96 min at ten an hour, but fresh at its expiry.
}

TEST_P(BucketTest, IsFreshAtTheExpiryOfItsLastTouchWhateverRateComesNext) {
  Token key = Make(10, 1h, 10);
  EXPECT_TRUE(key.Check(0s, 10).allowed);
  key.quota.rate = 1;
  const Decision denied = key.Check(30min, 10);
  EXPECT_FALSE(denied.allowed);
  EXPECT_EQ(denied.remaining, 0);
  EXPECT_EQ(denied.retry_after, 30min);
  EXPECT_EQ(denied.reset_after, 30min);
  EXPECT_FALSE(key.Check(1h - 1ns, 10).allowed);
  EXPECT_TRUE(key.Check(1h, 10).allowed);
}

TEST_P(BucketTest, RateZeroKeepsTheDebt) {
  Token key = Make(10, 1h, 10);
  key.Check(0s, 4);
  key.quota.rate = 0;
  EXPECT_FALSE(key.Check(0s).allowed);
  EXPECT_EQ(key.Peek(0s).reset_after, 24min);
  key.quota.rate = 10;
  EXPECT_EQ(key.Peek(0s).remaining, 6);
}

TEST_P(BucketTest, CountsCrossedReadingsAsNoTimePassed) {
  Token key = Make(1, 1s, 5);
  key.Check(10s, 5);
  EXPECT_EQ(key.Check(9s).retry_after, 1s);
  EXPECT_FALSE(key.Check(11s - 1ns).allowed);
  EXPECT_TRUE(key.Check(11s).allowed);
}

TEST_P(BucketTest, FollowsASharedClockThatStepsBackAlsoOnADenial) {
  SteppedKey<Bucket<StoreClock>, StoreClock> key(Rate(5, 10s, 5, GetParam()));
  EXPECT_EQ(key.CountAllowed(104s, 6), 5);
  EXPECT_EQ(key.Check(94s).retry_after, 2s);
  EXPECT_EQ(key.Check(94s).retry_after, 2s);
  EXPECT_EQ(key.Check(96s - 1ns).retry_after, 1ns);
  EXPECT_TRUE(key.Check(96s).allowed);
}

TEST(BucketShapeTest, WaitsForTheDebtAheadRoundedUp) {
  Quota quota = Rate(10, 1s, 5, Algorithm::kLeakyBucket);
  quota.shape = true;
  Token key(quota);
  for (int i = 0; i < 5; ++i) {
    const Decision decision = key.Check(0s);
    EXPECT_TRUE(decision.allowed);
    EXPECT_EQ(decision.wait, i * 100ms);
    EXPECT_EQ(decision.remaining, 4 - i);
  }
  const Decision denied = key.Check(0s);
  EXPECT_FALSE(denied.allowed);
  EXPECT_EQ(denied.retry_after, 100ms);
  EXPECT_EQ(denied.wait, 0s);
  EXPECT_EQ(key.Peek(450ms, 3).wait, 50ms);
  EXPECT_EQ(key.Check(10s).wait, 0s);

  Quota third = Rate(3, 1s, 2, Algorithm::kLeakyBucket);
  third.shape = true;
  Token rounded(third);
  rounded.Check(0s);
  EXPECT_EQ(rounded.Check(0s).wait, 333'333'334ns);
}

}  // namespace
}  // namespace sluice::core
