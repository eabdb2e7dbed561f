#include <gtest/gtest.h>

#include "replay/replay_report.h"

namespace sluice::replay {
namespace {

TEST(PercentileTest, IsTheLeastPlaceThatEnoughValuesAreAtOrBelow) {
  EXPECT_EQ(PercentilePlace(500'000, 10), 4U);
  EXPECT_EQ(PercentilePlace(500'000, 11), 5U);
  EXPECT_EQ(PercentilePlace(900'000, 10), 8U);
  EXPECT_EQ(PercentilePlace(990'000, 10), 9U);
  EXPECT_EQ(PercentilePlace(990'000, 100), 98U);
  EXPECT_EQ(PercentilePlace(990'000, 101), 99U);
  EXPECT_EQ(PercentilePlace(999'000, 1'767), 1'765U);
  EXPECT_EQ(PercentilePlace(1'000'000, 3), 2U);
  EXPECT_EQ(PercentilePlace(500'000, 1), 0U);
  EXPECT_EQ(PercentilePlace(0, 5), 0U);
}

}  // namespace
}  // namespace sluice::replay
