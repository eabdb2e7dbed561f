#include <gtest/gtest.h>

#include "base/clock.h"

namespace sluice::base {
namespace {

TEST(CoarseClockTest, IsTheSteadyClockALittleBehind) {
  for (int i = 0; i < 1000; ++i) {
    const auto before = std::chrono::steady_clock::now();
    const auto coarse = CoarseSteadyNow();
    EXPECT_LE(coarse, std::chrono::steady_clock::now());
    EXPECT_GT(coarse, before - std::chrono::seconds(1));
  }
}

TEST(CoarseClockTest, GoesOn) {
  const auto begin = CoarseSteadyNow();
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (CoarseSteadyNow() == begin && std::chrono::steady_clock::now() < give_up) {
  }
  EXPECT_GT(CoarseSteadyNow(), begin);
}

}  // namespace
}  // namespace sluice::base
