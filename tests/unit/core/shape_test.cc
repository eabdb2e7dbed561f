#include "core/shape.h"

#include <gtest/gtest.h>

namespace sluice::core {
namespace {

Quota Sound(Algorithm algorithm) {
  return {.algorithm = algorithm, .limit = 10, .rate = 10, .window = std::chrono::minutes(1)};
}

TEST(ShapeTest, TheDigestOfAShapeLeavesItsNumbersOut) {
  const Quota window = Sound(Algorithm::kFixedWindow);
  Quota other = window;
  other.limit += 5;
  EXPECT_EQ(ShapeDigest(other), ShapeDigest(window));
  other = window;
  other.window *= 2;
  EXPECT_NE(ShapeDigest(other), ShapeDigest(window));
  other = window;
  other.algorithm = Algorithm::kSlidingWindowLog;
  EXPECT_NE(ShapeDigest(other), ShapeDigest(window));
  Quota segments = Sound(Algorithm::kSlidingWindow);
  other = segments;
  other.segments = 4;
  EXPECT_NE(ShapeDigest(other), ShapeDigest(segments));
  const Quota holds = Sound(Algorithm::kConcurrency);
  other = holds;
  other.window *= 2;  // The hold_ttl.
  EXPECT_EQ(ShapeDigest(other), ShapeDigest(holds));
}

}  // namespace
}  // namespace sluice::core
