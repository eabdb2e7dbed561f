#include "insight/sampler.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sluice::insight {
namespace {

// Of `requests` requests, the weights of those that are picked, summed.
double Estimate(Sampler& sampler, int requests) {
  double sum = 0;
  for (int i = 0; i < requests; ++i) {
    if (sampler.Picks()) {
      sum += sampler.weight();
      sampler.Draw(0);
    }
  }
  return sum;
}

TEST(SamplerTest, PicksEveryRequestAtFirst) {
  Sampler sampler(1);
  EXPECT_EQ(Estimate(sampler, 1'000), 1'000);
  EXPECT_EQ(sampler.weight(), 1U);
}

TEST(SamplerTest, EstimatesTheNumberOfRequests) {
  for (const std::uint32_t step : {2U, 16U, 1024U}) {
    Sampler sampler(step);
    sampler.set_step(step);
    constexpr int kRequests = 2'000'000;
    EXPECT_NEAR(Estimate(sampler, kRequests), kRequests, 4 * std::sqrt(1.0 * kRequests * step));
  }
}

// Else a thread that was busy and falls silent would pick nothing for hours.
TEST(SamplerTest, ASmallerStepActsAtOnce) {
  Sampler sampler(1);
  sampler.set_step(Sampler::kMostStep);
  (void)Estimate(sampler, 10);
  sampler.set_step(1);
  EXPECT_TRUE(sampler.Picks());
  EXPECT_EQ(sampler.weight(), 1U);
}

TEST(SamplerTest, AFullRingRaisesTheNextStepOnly) {
  Sampler sampler(1);
  ASSERT_TRUE(sampler.Picks());
  sampler.Draw(30);
  EXPECT_EQ(sampler.weight(), Sampler::kMostStep);
  sampler.set_step(2);
  (void)sampler.Picks();
  EXPECT_EQ(sampler.weight(), 2U);
}

TEST(SamplerTest, TheStepFollowsTheRateAndDoesNotSwing) {
  EXPECT_EQ(NextStep(1, 0, 1'000), 1U);
  EXPECT_EQ(NextStep(1, 1'000, 1'000), 1U);
  EXPECT_EQ(NextStep(1, 1'001, 1'000), 2U);
  EXPECT_EQ(NextStep(1, 1'000'000, 1'000), 1024U);
  EXPECT_EQ(NextStep(1024, 500'000, 1'000), 1024U);  // 512 would do.
  EXPECT_EQ(NextStep(1024, 250'000, 1'000), 256U);
  EXPECT_EQ(NextStep(1024, 0, 1'000), 1U);
  EXPECT_EQ(NextStep(1, std::uint64_t{1} << 62U, 1'000), Sampler::kMostStep);
}

}  // namespace
}  // namespace sluice::insight
