#include "core/quota.h"

#include <gtest/gtest.h>

namespace sluice::core {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

Quota Sound(Algorithm algorithm) {
  Quota quota;
  quota.algorithm = algorithm;
  quota.limit = 10;
  quota.rate = 10;
  quota.window = 1min;
  return quota;
}

TEST(QuotaTest, NamesEachAlgorithmBothWays) {
  for (const Algorithm algorithm : kRuleAlgorithms) {
    EXPECT_EQ(AlgorithmNamed(NameOf(algorithm)), algorithm);
    EXPECT_EQ(FaultOf(Sound(algorithm)), std::nullopt) << NameOf(algorithm);
  }
  EXPECT_EQ(AlgorithmNamed("tokenbucket"), std::nullopt);
}

TEST(QuotaTest, ZeroIsLegalAndUnlimitedNeedsNoNumbers) {
  for (const Algorithm algorithm : kRuleAlgorithms) {
    Quota quota = Sound(algorithm);
    quota.limit = 0;
    EXPECT_EQ(FaultOf(quota), std::nullopt);
    Quota unlimited;
    unlimited.algorithm = quota.algorithm;
    unlimited.unlimited = true;
    EXPECT_EQ(FaultOf(unlimited), std::nullopt);
  }
}

TEST(QuotaTest, RefusesUnitsOutOfRange) {
  for (const Algorithm algorithm : kRuleAlgorithms) {
    Quota quota = Sound(algorithm);
    quota.limit = -1;
    EXPECT_TRUE(FaultOf(quota));
    quota.limit = kMaxUnits + 1;
    EXPECT_TRUE(FaultOf(quota));
  }
  Quota most = Sound(Algorithm::kFixedWindow);
  most.limit = kMaxUnits;
  EXPECT_EQ(FaultOf(most), std::nullopt);
  Quota rate = Sound(Algorithm::kGcra);
  rate.rate = -1;
  EXPECT_TRUE(FaultOf(rate));
  rate.rate = kMaxUnits + 1;
  EXPECT_TRUE(FaultOf(rate));
}

TEST(QuotaTest, RefusesWindowsThatAreMissingFractionalOrEndless) {
  for (const Algorithm algorithm : kRuleAlgorithms) {
    Quota quota = Sound(algorithm);
    for (const Duration window :
         {Duration(0), Duration(-1ms), Duration(1ns), Duration(1500us), kLongestHorizon + 1ms}) {
      quota.window = window;
      EXPECT_TRUE(FaultOf(quota)) << NameOf(quota.algorithm) << " " << window.count();
    }
    quota.window = 1ms;
    EXPECT_EQ(FaultOf(quota), std::nullopt);
    quota.window = kLongestHorizon;
    EXPECT_EQ(FaultOf(quota), std::nullopt);
  }
}

TEST(QuotaTest, RefusesARefillLongerThanTheHorizon) {
  Quota quota = Sound(Algorithm::kTokenBucket);
  quota.rate = 1;
  quota.window = 365 * 24h;
  quota.limit = 100;
  EXPECT_EQ(FaultOf(quota), std::nullopt);
  quota.limit = 101;
  EXPECT_TRUE(FaultOf(quota));
  quota.rate = 0;
  EXPECT_EQ(FaultOf(quota), std::nullopt);
  quota.rate = 2'000'000;
  quota.limit = kMaxUnits;
  quota.window = 1s;
  EXPECT_EQ(FaultOf(quota), std::nullopt);
}

TEST(QuotaTest, RefusesWhatBelongsToAnotherAlgorithm) {
  Quota quota = Sound(Algorithm::kGcra);
  quota.strict = true;
  EXPECT_TRUE(FaultOf(quota));
  quota.strict = false;
  quota.shape = true;
  EXPECT_TRUE(FaultOf(quota));
  quota.algorithm = Algorithm::kLeakyBucket;
  EXPECT_EQ(FaultOf(quota), std::nullopt);
  Quota sliding = Sound(Algorithm::kSlidingWindow);
  sliding.segments = 0;
  EXPECT_TRUE(FaultOf(sliding));
  sliding.segments = 65;
  EXPECT_TRUE(FaultOf(sliding));
  sliding.segments = 64;
  EXPECT_EQ(FaultOf(sliding), std::nullopt);
}

TEST(QuotaTest, SaysHowLongABucketTakesToRefill) {
  Quota quota = Sound(Algorithm::kTokenBucket);
  quota.limit = 20;
  quota.rate = 10;
  quota.window = std::chrono::seconds(100);
  EXPECT_EQ(RefillTime(quota), std::chrono::seconds(200));
  quota.rate = 3;
  EXPECT_EQ(RefillTime(quota), Duration(666'666'666'666));
  quota.limit = 0;
  EXPECT_EQ(RefillTime(quota), Duration(0));
  // What would overflow is cut, whatever the numbers.
  quota.limit = kMaxUnits;
  quota.rate = 1;
  quota.window = kLongestHorizon;
  EXPECT_EQ(RefillTime(quota), kLongestHorizon);
  quota.rate = 0;
  EXPECT_EQ(RefillTime(quota), kLongestHorizon);
}

TEST(QuotaTest, SaysHowLongAChargeCounts) {
  const WallInstant charged(std::chrono::seconds(61));
  EXPECT_EQ(CountsFor(Sound(Algorithm::kFixedWindow), charged), std::chrono::seconds(59));
  EXPECT_EQ(CountsFor(Sound(Algorithm::kAttemptWindow), charged), std::chrono::seconds(59));
  for (const Algorithm algorithm : {Algorithm::kSlidingWindowLog, Algorithm::kSlidingWindowCounter,
                                    Algorithm::kSlidingWindow}) {
    EXPECT_EQ(CountsFor(Sound(algorithm), charged), std::chrono::minutes(1));
    EXPECT_EQ(LongestCount(Sound(algorithm)), std::chrono::minutes(1));
  }
  Quota bucket = Sound(Algorithm::kGcra);
  bucket.limit = 30;
  EXPECT_EQ(CountsFor(bucket, charged), std::chrono::minutes(3));
  EXPECT_EQ(LongestCount(bucket), std::chrono::minutes(3));
  bucket.rate = 0;
  EXPECT_EQ(LongestCount(bucket), Duration{});
}

TEST(QuotaTest, NamesTheOwnersOfANumber) {
  EXPECT_EQ(OwnersOf(QuotaField::kRate), "token_bucket, gcra and leaky_bucket");
  EXPECT_EQ(OwnersOf(QuotaField::kHoldTtl), "concurrency");
}

}  // namespace
}  // namespace sluice::core
