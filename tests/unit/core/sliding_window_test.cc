#include "core/sliding_window.h"

#include <gtest/gtest.h>

#include "unit/core/steps.h"

namespace sluice::core {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

using Sliding = ListKey<SlidingWindow<TableClock>>;

Quota Limit(Units limit, Duration window, std::uint8_t segments = 8, bool strict = false) {
  Quota quota;
  quota.algorithm = Algorithm::kSlidingWindow;
  quota.limit = limit;
  quota.window = window;
  quota.segments = segments;
  quota.strict = strict;
  EXPECT_EQ(FaultOf(quota), std::nullopt);
  return quota;
}

TEST(SlidingWindowTest, WeighsTheOldestSegmentByWhatIsStillCovered) {
  Sliding key(Limit(100, 80s));
  EXPECT_TRUE(key.Check(5s, 80).allowed);  // Segment 0: 0 to 10 s.
  EXPECT_EQ(key.Peek(80s - 1ns).remaining, 20);
  EXPECT_EQ(key.Peek(80s).remaining, 20);
  EXPECT_EQ(key.Peek(83s).remaining, 44);  // 80 * 0.7
  EXPECT_EQ(key.Peek(90s - 1ns).remaining, 100);
  EXPECT_EQ(key.Peek(83s).reset_after, 7s);
}

TEST(SlidingWindowTest, SaysTheNanosecondOfTheNextUnit) {
  Sliding key(Limit(10, 80s));
  EXPECT_TRUE(key.Check(5s, 10).allowed);
  EXPECT_EQ(key.Check(5s).retry_after, 75s + 1ns);
  EXPECT_FALSE(key.Check(80s).allowed);
  EXPECT_EQ(key.Check(80s + 1ns, 2).retry_after, 1s);
  EXPECT_TRUE(key.Check(80s + 1ns).allowed);
}

TEST(SlidingWindowTest, StrictCountsTheOldestSegmentWhole) {
  Sliding key(Limit(10, 16s, 8, true));
  EXPECT_TRUE(key.Check(1s, 10).allowed);
  EXPECT_EQ(key.Check(16s).retry_after, 2s);
  EXPECT_EQ(key.Check(18s - 1ns).retry_after, 1ns);
  EXPECT_EQ(key.Check(18s).remaining, 9);
}

TEST(SlidingWindowTest, OneSegmentIsTheCounter) {
  Sliding key(Limit(100, 100s, 1));
  key.Check(50s, 80);
  key.Check(130s, 20);
  EXPECT_EQ(key.Peek(130s).remaining, 100 - 76);
}

TEST(SlidingWindowTest, CutsAWindowThatIsNoMultipleOfItsSegments) {
  Sliding key(Limit(10, 10ms, 3, true));                        // Segments of 3333333.33 ns.
  EXPECT_TRUE(key.Check(3'333'333ns, 10).allowed);              // Still segment 0.
  EXPECT_EQ(key.Check(3'333'333ns).retry_after, 10'000'001ns);  // Segment 4: from 13333333.33.
  EXPECT_FALSE(key.Check(13'333'333ns).allowed);
  EXPECT_TRUE(key.Check(13'333'334ns, 10).allowed);
}

TEST(SlidingWindowTest, KeepsAtMostOneEntryPerSegmentAndOneMore) {
  Sliding key(Limit(1000, 80s));
  for (int s = 0; s < 1000; ++s) {
    EXPECT_TRUE(key.Check(std::chrono::seconds(s)).allowed);
    EXPECT_LE(key.entries.size(), 9U);
  }
}

TEST(SlidingWindowTest, IsFreshWhenItsNewestSegmentIsOutlived) {
  Sliding key(Limit(10, 80s));
  EXPECT_EQ(key.Check(5s).reset_after, 85s);
  EXPECT_EQ(key.Expiry(), TableInstant(90s));
  EXPECT_EQ(key.Peek(90s - 1ns).reset_after, 1ns);
  EXPECT_EQ(key.Peek(90s).reset_after, 0s);
  EXPECT_TRUE(key.Check(90s).allowed);
  EXPECT_EQ(key.entries.size(), 1U);
}

TEST(SlidingWindowTest, RefundsTheNewestFirst) {
  Sliding key(Limit(10, 80s));
  key.Check(5s, 4);
  key.Check(15s, 4);
  key.Refund(16s, 6);
  EXPECT_EQ(key.Peek(16s).remaining, 8);
  EXPECT_EQ(key.Expiry(), TableInstant(90s));
  key.Refund(16s, 6);
  EXPECT_EQ(key.Peek(16s).remaining, 10);
  EXPECT_EQ(key.entries.size(), 0U);
}

TEST(SlidingWindowTest, DeniesForeverWhatCannotFit) {
  Sliding key(Limit(5, 10s));
  EXPECT_EQ(key.Check(0s, 6).reason, Reason::kCostExceedsCapacity);
  key.quota.limit = 0;
  EXPECT_EQ(key.Check(0s, 0).reason, Reason::kLimitZero);
}

}  // namespace
}  // namespace sluice::core
