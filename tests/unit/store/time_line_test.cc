#include "store/time_line.h"

#include <gtest/gtest.h>

namespace sluice::store {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr BootId kThisBoot{1};
constexpr BootId kNextBoot{2};

base::ClockReading At(Duration boot, Duration wall) {
  return {.boot = boot, .wall = WallInstant(wall)};
}

Duration LineOf(TimeLine& line, const base::ClockReading& reading) {
  return line.Now(reading).line.time_since_epoch();
}

TEST(TimeLineTest, StartsAtTheWallAndFollowsTheBootClock) {
  LineRecord record;
  TimeLine line(record, At(seconds(5), hours(1000)), kThisBoot, true);
  EXPECT_EQ(LineOf(line, At(seconds(5), hours(1000))), hours(1000));
  EXPECT_EQ(LineOf(line, At(seconds(9), hours(3))), hours(1000) + seconds(4));
  EXPECT_EQ(line.Now(At(seconds(9), hours(3))).wall, WallInstant(hours(3)));
}

TEST(TimeLineTest, AStepBackOfTheBootClockIsNoTimeAndGoesOnFromThere) {
  LineRecord record;
  TimeLine line(record, At(seconds(100), hours(1)), kThisBoot, true);
  EXPECT_EQ(LineOf(line, At(seconds(110), hours(1))), hours(1) + seconds(10));
  EXPECT_EQ(LineOf(line, At(seconds(50), hours(1))), hours(1) + seconds(10));
  EXPECT_EQ(LineOf(line, At(seconds(51), hours(1))), hours(1) + seconds(11));
}

TEST(TimeLineTest, ANewProcessOfTheSameBootResumesTheLine) {
  LineRecord record;
  {
    TimeLine line(record, At(seconds(5), hours(1)), kThisBoot, true);
  }
  TimeLine line(record, At(seconds(25), hours(9)), kThisBoot, false);
  EXPECT_EQ(LineOf(line, At(seconds(25), hours(9))), hours(1) + seconds(20));
}

TEST(TimeLineTest, AfterARebootTheWallSaysWhatPassedAndNeverLessThanNothing) {
  LineRecord record;
  {
    TimeLine line(record, At(seconds(5), hours(10)), kThisBoot, true);
    (void)line.Now(At(seconds(15), hours(10) + seconds(10)));
  }
  {
    TimeLine line(record, At(seconds(1), hours(11)), kNextBoot, false);
    EXPECT_EQ(LineOf(line, At(seconds(1), hours(11))), hours(11));
  }
  TimeLine line(record, At(seconds(2), hours(4)), kThisBoot, false);
  EXPECT_EQ(LineOf(line, At(seconds(3), hours(4))), hours(11) + seconds(1));
}

}  // namespace
}  // namespace sluice::store
