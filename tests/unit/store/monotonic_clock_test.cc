#include "store/monotonic_clock.h"

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

base::ClockReading At(Duration boot, Duration wall_clock) {
  return {.boot = boot, .wall_clock = WallInstant(wall_clock)};
}

Duration TimeOf(MonotonicClock& clock, const base::ClockReading& reading) {
  return clock.Now(reading).monotonic.time_since_epoch();
}

TEST(MonotonicClockTest, StartsAtTheWallAndFollowsTheBootClock) {
  ClockRecord record;
  MonotonicClock clock(record, At(seconds(5), hours(1000)), kThisBoot, true);
  EXPECT_EQ(TimeOf(clock, At(seconds(5), hours(1000))), hours(1000));
  EXPECT_EQ(TimeOf(clock, At(seconds(9), hours(3))), hours(1000) + seconds(4));
  EXPECT_EQ(clock.Now(At(seconds(9), hours(3))).wall_clock, WallInstant(hours(3)));
}

// A thread reads the clock at 10 s and is put to sleep; another one reads it 2 ms later and moves
// the time on; then the first one comes with its old reading.
TEST(MonotonicClockTest, AnOldReadingGetsTheLaterTimeAndMovesNothing) {
  ClockRecord record;
  MonotonicClock clock(record, At(seconds(0), hours(1)), kThisBoot, true);
  const base::ClockReading overtaken = At(seconds(10), hours(1) + seconds(10));
  const auto later = seconds(10) + milliseconds(2);
  EXPECT_EQ(TimeOf(clock, At(later, hours(1) + later)), hours(1) + later);
  EXPECT_EQ(TimeOf(clock, overtaken), hours(1) + later);
  const auto next = seconds(10) + milliseconds(3);
  EXPECT_EQ(TimeOf(clock, At(next, hours(1) + next)), hours(1) + next);
}

TEST(MonotonicClockTest, CountsStepsOfTheWallAndNothingElse) {
  ClockRecord record;
  MonotonicClock clock(record, At(seconds(0), hours(1)), kThisBoot, true);
  auto wall = hours(1) + seconds(0);
  auto boot = seconds(0);
  const auto pass = [&](seconds boot_passed, milliseconds wall_passed) {
    boot += boot_passed;
    (void)clock.Now(At(boot, wall + wall_passed));
    return clock.wall_clock_steps();
  };
  EXPECT_EQ(pass(seconds(1), seconds(1)), 0U);
  EXPECT_EQ(pass(seconds(1), seconds(2) + milliseconds(499)), 0U) << "slewed, or read late";
  EXPECT_EQ(pass(seconds(1), seconds(3)), 0U);
  EXPECT_EQ(pass(seconds(1), seconds(4) + milliseconds(600)), 1U) << "forward";
  EXPECT_EQ(pass(seconds(1), seconds(5) + milliseconds(600)), 1U);
  EXPECT_EQ(pass(seconds(1), seconds(2)), 2U) << "back";
  // NTP may have slewed for an hour.
  EXPECT_EQ(pass(seconds(3600), seconds(3602) + milliseconds(1'800)), 2U);
  (void)clock.Now(At(boot + seconds(1), -hours(200'000)));
  EXPECT_EQ(clock.wall_clock_steps(), 3U) << "before 1970";
}

// What the record has is of the moment at which the process before noted it, but its wall is of
// this one's start.
TEST(MonotonicClockTest, ARestartIsNoStep) {
  ClockRecord record;
  {
    MonotonicClock clock(record, At(seconds(0), hours(1)), kThisBoot, true);
    (void)clock.Now(At(seconds(60), hours(1) + seconds(60)));
  }
  MonotonicClock clock(record, At(seconds(600), hours(1) + seconds(600)), kThisBoot, false);
  (void)clock.Now(At(seconds(601), hours(1) + seconds(601)));
  (void)clock.Now(At(seconds(602), hours(1) + seconds(602)));
  EXPECT_EQ(clock.wall_clock_steps(), 0U);
}

TEST(MonotonicClockTest, AnOldReadingIsNotNotedAsTheLastTime) {
  ClockRecord record;
  {
    MonotonicClock clock(record, At(seconds(0), hours(1)), kThisBoot, true);
    (void)clock.Now(At(seconds(60), hours(1) + seconds(60)));
    (void)clock.Now(At(seconds(10), hours(1) + seconds(10)));
  }
  MonotonicClock clock(record, At(seconds(1), hours(1) + seconds(61)), kNextBoot, false);
  EXPECT_EQ(TimeOf(clock, At(seconds(1), hours(1) + seconds(61))), hours(1) + seconds(61));
}

// Any number of threads with clocks that agree, whose readings come in any order: time never runs
// ahead of the latest reading, and no thread gets a time before its own.
TEST(MonotonicClockTest, NoOrderOfReadingsRunsAheadOfTheClock) {
  std::mt19937_64 random(18);
  for (int history = 0; history < 200; ++history) {
    ClockRecord record;
    MonotonicClock clock(record, At(seconds(0), hours(1)), kThisBoot, true);
    std::vector<Duration> under_way;  // Readings that were taken and not yet handed in.
    Duration since_boot{};
    Duration latest{};
    for (int step = 0; step < 400; ++step) {
      since_boot += Duration(std::uniform_int_distribution<std::int64_t>(0, 3'000'000)(random));
      under_way.push_back(since_boot);
      while (under_way.size() > 8 || (!under_way.empty() && random() % 2 == 0)) {
        const std::size_t which = random() % under_way.size();
        const Duration reading = under_way[which];
        under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(which));
        latest = std::max(latest, reading);
        const Duration got = TimeOf(clock, At(reading, hours(1) + reading));
        ASSERT_GE(got, hours(1) + reading);
        ASSERT_LE(got, hours(1) + latest);
      }
    }
    ASSERT_EQ(record.offset_ns, Duration(hours(1)).count());
  }
}

TEST(MonotonicClockTest, ABootClockThatReadsEarlierWhenTheTableIsOpenedIsNoTimePassed) {
  ClockRecord record;
  {
    MonotonicClock clock(record, At(seconds(100), hours(1)), kThisBoot, true);
    EXPECT_EQ(TimeOf(clock, At(seconds(110), hours(1))), hours(1) + seconds(10));
  }
  MonotonicClock clock(record, At(seconds(50), hours(1)), kThisBoot, false);
  EXPECT_EQ(TimeOf(clock, At(seconds(50), hours(1))), hours(1) + seconds(10));
  EXPECT_EQ(TimeOf(clock, At(seconds(51), hours(1))), hours(1) + seconds(11));
}

TEST(MonotonicClockTest, ANewProcessOfTheSameBootResumesTheLine) {
  ClockRecord record;
  {
    MonotonicClock clock(record, At(seconds(5), hours(1)), kThisBoot, true);
  }
  MonotonicClock clock(record, At(seconds(25), hours(9)), kThisBoot, false);
  EXPECT_EQ(TimeOf(clock, At(seconds(25), hours(9))), hours(1) + seconds(20));
}

TEST(MonotonicClockTest, AfterARebootTheWallSaysWhatPassedAndNeverLessThanNothing) {
  ClockRecord record;
  {
    MonotonicClock clock(record, At(seconds(5), hours(10)), kThisBoot, true);
    (void)clock.Now(At(seconds(15), hours(10) + seconds(10)));
  }
  {
    MonotonicClock clock(record, At(seconds(1), hours(11)), kNextBoot, false);
    EXPECT_EQ(TimeOf(clock, At(seconds(1), hours(11))), hours(11));
  }
  MonotonicClock clock(record, At(seconds(2), hours(4)), kThisBoot, false);
  EXPECT_EQ(TimeOf(clock, At(seconds(3), hours(4))), hours(11) + seconds(1));
}

}  // namespace
}  // namespace sluice::store
