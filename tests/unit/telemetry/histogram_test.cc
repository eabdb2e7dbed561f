#include <numeric>

#include <gtest/gtest.h>

#include "telemetry/counter.h"

namespace sluice::telemetry {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

TEST(HistogramTest, PutsABoundIntoItsOwnBucketAndOneMoreNanosecondIntoTheNext) {
  Histogram histogram;
  histogram.Record(microseconds(5));
  histogram.Record(microseconds(5) + Duration(1));
  const Histogram::Reading reading = histogram.Read();
  EXPECT_EQ(reading.counts[2], 1U);  // Up to 5 us.
  EXPECT_EQ(reading.counts[3], 1U);  // Up to 10 us.
  EXPECT_EQ(reading.sum_ns, 10'001U);
}

TEST(HistogramTest, CountsWhatIsLongerThanAllBoundsAsInfinity) {
  Histogram histogram;
  histogram.Record(seconds(3));
  EXPECT_EQ(histogram.Read().counts.back(), 1U);
}

TEST(HistogramTest, CountsABatchOncePerRequest) {
  Histogram histogram;
  histogram.Record(microseconds(2), 32);
  const Histogram::Reading reading = histogram.Read();
  EXPECT_EQ(reading.count, 32U);
  EXPECT_EQ(reading.counts[1], 32U);
  EXPECT_EQ(reading.sum_ns, 64'000U);
}

TEST(HistogramTest, TakesATimeThatRanBackwardsForNone) {
  Histogram histogram;
  histogram.Record(Duration(-7));
  EXPECT_EQ(histogram.Read().counts[0], 1U);
  EXPECT_EQ(histogram.Read().sum_ns, 0U);
}

}  // namespace
}  // namespace sluice::telemetry
