#include "core/lab_key.h"

#include <chrono>

#include <gtest/gtest.h>

namespace sluice::core {
namespace {

using std::chrono::seconds;

constexpr WallInstant kStart{seconds(1'699'999'980)};

LabKey ThreeSlots() {
  return LabKey({.algorithm = Algorithm::kConcurrency, .limit = 3, .window = seconds(30)});
}

TEST(LabKey, ASlotIsFreeFromTheInstantOfItsReleaseOn) {
  LabKey key = ThreeSlots();
  EXPECT_TRUE(key.Check(kStart, Cost{3}, seconds(2)).allowed);
  const Decision early = key.Check(kStart + seconds(2) - Duration(1), Cost{1}, seconds(2));
  EXPECT_FALSE(early.allowed);
  EXPECT_EQ(early.reason, Reason::kInFlight);
  EXPECT_EQ(key.Check(kStart + seconds(2), Cost{1}, seconds(2)).remaining, 2);
}

TEST(LabKey, AHoldThatIsNotReleasedExpires) {
  LabKey key = ThreeSlots();
  EXPECT_EQ(key.Check(kStart, Cost{3}, seconds(1'000)).reset_after, seconds(30));
  EXPECT_EQ(key.Peek(kStart + seconds(29), Cost{1}).remaining, 0);
  EXPECT_EQ(key.Peek(kStart + seconds(30), Cost{1}).remaining, 3);
}

TEST(LabKey, TheOthersStayWhenOneIsReleased) {
  LabKey key = ThreeSlots();
  (void)key.Check(kStart, Cost{1}, seconds(10));
  (void)key.Check(kStart + seconds(5), Cost{1}, seconds(1));
  const Decision after = key.Peek(kStart + seconds(6), Cost{1});
  EXPECT_EQ(after.remaining, 2);
  EXPECT_EQ(after.reset_after, seconds(24));  // Until the first one expires, if nobody releases it.
}

TEST(LabKey, APeekChargesNothing) {
  for (const Algorithm algorithm : kRuleAlgorithms) {
    LabKey key({.algorithm = algorithm,
                .limit = 3,
                .rate = IsBucket(algorithm) ? 3 : 0,
                .window = seconds(10)});
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(key.Peek(kStart, Cost{1}).remaining, 3) << NameOf(algorithm);
    }
    EXPECT_EQ(key.Check(kStart, Cost{1}, seconds(1)).remaining, 2) << NameOf(algorithm);
    EXPECT_EQ(key.Peek(kStart, Cost{1}).remaining, 2) << NameOf(algorithm);
  }
}

}  // namespace
}  // namespace sluice::core
