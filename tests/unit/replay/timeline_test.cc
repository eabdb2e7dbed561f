#include "replay/timeline.h"

#include <gtest/gtest.h>

namespace sluice::replay {
namespace {

WallInstant SecondAt(std::int64_t second) {
  return WallInstant(std::chrono::seconds(1'700'000'000 + second));
}

std::uint64_t Sum(const std::vector<Timeline::Step>& steps) {
  std::uint64_t sum = 0;
  for (const Timeline::Step& step : steps) {
    sum += step.allowed + step.denied;
  }
  return sum;
}

TEST(TimelineTest, BeginsWithSeconds) {
  Timeline timeline;
  timeline.Add(SecondAt(0), true);
  timeline.Add(SecondAt(2), false);
  timeline.Add(SecondAt(2), true);
  EXPECT_EQ(timeline.step().count(), 1);
  EXPECT_EQ(timeline.begin(), SecondAt(0));
  ASSERT_EQ(timeline.steps().size(), 3U);
  EXPECT_EQ(timeline.steps()[0].allowed, 1U);
  EXPECT_EQ(timeline.steps()[1].allowed + timeline.steps()[1].denied, 0U);
  EXPECT_EQ(timeline.steps()[2].denied, 1U);
}

TEST(TimelineTest, GrowsCoarserAndLosesNothing) {
  for (const std::int64_t span : {399LL, 400LL, 5'000LL, 86'400LL * 40, 86'400LL * 365 * 60}) {
    Timeline timeline;
    for (std::int64_t i = 0; i <= 1'000; ++i) {
      timeline.Add(SecondAt(span * i / 1'000), i % 3 != 0);
    }
    EXPECT_LE(timeline.steps().size(), Timeline::kMostSteps) << span;
    EXPECT_EQ(Sum(timeline.steps()), 1'001U) << span;
    EXPECT_LE(timeline.begin(), SecondAt(0));
    EXPECT_GT(timeline.begin() + timeline.step(), SecondAt(0));
    EXPECT_LE(timeline.In(60).size(), 60U);
    EXPECT_EQ(Sum(timeline.In(60)), 1'001U) << span;
  }
}

}  // namespace
}  // namespace sluice::replay
