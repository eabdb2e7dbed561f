#include "replay/demand.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/algorithm_state.h"
#include "core/quota.h"

namespace sluice::replay {
namespace {

using core::Algorithm;

WallInstant OnDay(std::int64_t ms) {
  return WallInstant(std::chrono::seconds(1'765'962'000)) + std::chrono::milliseconds(ms);
}

core::Quota Of(Algorithm algorithm, Units limit, Units rate, Duration window) {
  core::Quota quota;
  quota.algorithm = algorithm;
  quota.limit = limit;
  quota.rate = core::IsBucket(algorithm) ? rate : 0;
  quota.window = window;
  return quota;
}

TEST(DemandTest, AFixedWindowsIsThatOfItsAlignedWindows) {
  const core::Quota quota = Of(Algorithm::kFixedWindow, 60, 0, std::chrono::minutes(1));
  Demand demand;
  for (int i = 0; i < 60; ++i) {  // 60 at the end of one minute, 60 at the begin of the next.
    demand.Add(quota, OnDay(59'000), Cost{1}, false);
  }
  for (int i = 0; i < 60; ++i) {
    demand.Add(quota, OnDay(60'000), Cost{1}, false);
  }
  EXPECT_EQ(demand.peak(), 60);
  EXPECT_EQ(demand.limit(), 60);
}

TEST(DemandTest, ABucketsIsItsHighestLevelAgainstTheBurst) {
  const core::Quota quota = Of(Algorithm::kTokenBucket, 5, 1'000, std::chrono::hours(1));
  Demand demand;
  for (int i = 0; i < 20; ++i) {
    demand.Add(quota, OnDay(0), Cost{1}, i >= 5);
  }
  EXPECT_EQ(demand.peak(), 20);
  EXPECT_EQ(demand.limit(), 5);
  demand.Add(quota, OnDay(3'600'000), Cost{1}, false);
  EXPECT_EQ(demand.peak(), 20);
}

// For every algorithm and many streams of requests: a key is beyond its limit if and only if the
// algorithm denied it.
TEST(DemandTest, IsBeyondTheLimitIfAndOnlyIfTheRuleDenied) {
  std::uint64_t draw = 11;
  const auto below = [&draw](std::uint64_t end) {
    draw = (draw * 6'364'136'223'846'793'005U) + 1'442'695'040'888'963'407U;
    return static_cast<std::int64_t>((draw >> 33U) % end);
  };
  const std::vector<Algorithm> algorithms{
      Algorithm::kFixedWindow,      Algorithm::kSlidingWindow, Algorithm::kSlidingWindowCounter,
      Algorithm::kSlidingWindowLog, Algorithm::kTokenBucket,   Algorithm::kGcra,
      Algorithm::kLeakyBucket};
  int denied_streams = 0;
  for (const Algorithm algorithm : algorithms) {
    for (int stream = 0; stream < 300; ++stream) {
      core::Quota quota = Of(algorithm, 1 + below(20), 1 + below(20), std::chrono::seconds(10));
      quota.strict = algorithm == Algorithm::kSlidingWindow && stream % 2 == 1;
      const auto gap_ms = static_cast<std::uint64_t>(1 + below(4'000));
      core::AlgorithmState rule;
      Demand demand;
      bool denied = false;
      std::int64_t ms = 0;
      for (int i = 0; i < 40; ++i) {
        ms += below(gap_ms);
        const Cost cost{below(3)};
        const bool allowed = rule.Check(quota, OnDay(ms), cost).allowed;
        denied = denied || !allowed;
        demand.Add(quota, OnDay(ms), cost, !allowed);
      }
      EXPECT_EQ(demand.peak() > demand.limit(), denied)
          << core::NameOf(algorithm) << " " << stream << ": " << demand.peak() << " of "
          << demand.limit();
      denied_streams += denied ? 1 : 0;
    }
  }
  EXPECT_GT(denied_streams, 300);  // Both cases were met.
  EXPECT_LT(denied_streams, 1'800);
}

TEST(DemandTest, WithALimitOfItsOwnForEachRequestTheLargestShareCounts) {
  Demand demand;
  demand.Add(Of(Algorithm::kFixedWindow, 100, 0, std::chrono::minutes(1)), OnDay(0), Cost{50},
             false);
  demand.Add(Of(Algorithm::kFixedWindow, 10, 0, std::chrono::minutes(1)), OnDay(60'000), Cost{9},
             false);
  EXPECT_EQ(demand.peak(), 9);
  EXPECT_EQ(demand.limit(), 10);
}

}  // namespace
}  // namespace sluice::replay
