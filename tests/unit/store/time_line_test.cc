#include "store/time_line.h"

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::store {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
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

// A thread reads the clock at 10 s and is put to sleep; another one reads it 2 ms later and moves
// the line; then the first one comes with its old reading.
TEST(TimeLineTest, AnOldReadingGetsTheLaterTimeAndMovesNothing) {
  LineRecord record;
  TimeLine line(record, At(seconds(0), hours(1)), kThisBoot, true);
  const base::ClockReading overtaken = At(seconds(10), hours(1) + seconds(10));
  const auto later = seconds(10) + milliseconds(2);
  EXPECT_EQ(LineOf(line, At(later, hours(1) + later)), hours(1) + later);
  EXPECT_EQ(LineOf(line, overtaken), hours(1) + later);
  const auto next = seconds(10) + milliseconds(3);
  EXPECT_EQ(LineOf(line, At(next, hours(1) + next)), hours(1) + next);
}

TEST(TimeLineTest, AnOldReadingIsNotNotedAsTheLastTime) {
  LineRecord record;
  {
    TimeLine line(record, At(seconds(0), hours(1)), kThisBoot, true);
    (void)line.Now(At(seconds(60), hours(1) + seconds(60)));
    (void)line.Now(At(seconds(10), hours(1) + seconds(10)));
  }
  TimeLine line(record, At(seconds(1), hours(1) + seconds(61)), kNextBoot, false);
  EXPECT_EQ(LineOf(line, At(seconds(1), hours(1) + seconds(61))), hours(1) + seconds(61));
}

// Any number of threads with clocks that agree, whose readings come in any order: time never runs
// ahead of the latest reading, and no thread gets a time before its own.
TEST(TimeLineTest, NoOrderOfReadingsRunsAheadOfTheClock) {
  std::mt19937_64 random(18);
  for (int history = 0; history < 200; ++history) {
    LineRecord record;
    TimeLine line(record, At(seconds(0), hours(1)), kThisBoot, true);
    std::vector<Duration> under_way;  // Readings that were taken and not yet handed in.
    Duration clock{};
    Duration latest{};
    for (int step = 0; step < 400; ++step) {
      clock += Duration(std::uniform_int_distribution<std::int64_t>(0, 3'000'000)(random));
      under_way.push_back(clock);
      while (under_way.size() > 8 || (!under_way.empty() && random() % 2 == 0)) {
        const std::size_t which = random() % under_way.size();
        const Duration reading = under_way[which];
        under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(which));
        latest = std::max(latest, reading);
        const Duration got = LineOf(line, At(reading, hours(1) + reading));
        ASSERT_GE(got, hours(1) + reading);
        ASSERT_LE(got, hours(1) + latest);
      }
    }
    ASSERT_EQ(record.offset_ns, Duration(hours(1)).count());
  }
}

TEST(TimeLineTest, ABootClockThatReadsEarlierWhenTheTableIsOpenedIsNoTimePassed) {
  LineRecord record;
  {
    TimeLine line(record, At(seconds(100), hours(1)), kThisBoot, true);
    EXPECT_EQ(LineOf(line, At(seconds(110), hours(1))), hours(1) + seconds(10));
  }
  TimeLine line(record, At(seconds(50), hours(1)), kThisBoot, false);
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
