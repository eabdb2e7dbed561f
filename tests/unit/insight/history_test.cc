#include "insight/history.h"

#include <chrono>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/manual_clock.h"

namespace sluice::insight {
namespace {

using std::chrono::seconds;

class HistoryTest : public ::testing::Test {
 protected:
  // Time goes on by a tick, and the metrics are these.
  void Tick(const std::string& metrics) {
    history.Observe(clock.Read(), telemetry::Samples(metrics));
    clock.Advance(History::kTick);
  }
  // The growth of the only series, the oldest minute first.
  [[nodiscard]] std::vector<std::uint32_t> Growth() const {
    std::vector<std::uint32_t> growth;
    EXPECT_EQ(history.series().size(), 1U);
    for (std::size_t ago = history.minutes(); ago > 0 && !history.series().empty(); --ago) {
      growth.push_back(history.GrewAt(history.series().begin()->second, ago - 1));
    }
    return growth;
  }

  support::ManualClock clock;
  History history;
};

std::string Denied(int count) {
  return fmt::format("sluice_decisions_total{{rule=\"a\",outcome=\"denied\"}} {}\n", count);
}

TEST_F(HistoryTest, ShowsWhatACounterGrewByInEachMinute) {
  EXPECT_EQ(history.minutes(), 0U);
  Tick(Denied(5));  // Counted before anybody looked.
  for (const int count : {6, 7, 7}) {
    Tick(Denied(count));
  }
  for (const int count : {9, 9, 9, 9, 10}) {
    Tick(Denied(count));
  }
  EXPECT_EQ(Growth(), (std::vector<std::uint32_t>{2, 2, 1}));
  EXPECT_EQ(history.minute_began(),
            WallInstant(Duration(support::ManualClock::kStartNs)) + std::chrono::minutes(2));
}

TEST_F(HistoryTest, ACounterThatComesLaterGrewFromZero) {
  Tick("");
  Tick(Denied(3));
  EXPECT_EQ(Growth(), std::vector<std::uint32_t>{3});
}

TEST_F(HistoryTest, ForgetsWhatIsOlderThanAnHour) {
  Tick("");
  Tick(Denied(3));
  clock.Advance(std::chrono::minutes(59));
  Tick(Denied(3));
  const auto growth = Growth();
  EXPECT_EQ(growth.size(), History::kMinutes);
  EXPECT_EQ(std::accumulate(growth.begin(), growth.end(), 0U), 3U);
  clock.Advance(std::chrono::minutes(1));
  Tick(Denied(3));
  EXPECT_EQ(Growth(), std::vector<std::uint32_t>(History::kMinutes, 0));
  Tick("");  // The rule is gone.
  EXPECT_TRUE(history.series().empty());
}

TEST_F(HistoryTest, AStepOfTheWallClockMovesNoMinute) {
  Tick("");
  clock.StepWallClock(std::chrono::hours(5));
  Tick(Denied(3));
  clock.StepWallClock(-std::chrono::hours(9));
  Tick(Denied(4));
  EXPECT_EQ(Growth(), std::vector<std::uint32_t>{4});
}

TEST_F(HistoryTest, KeepsAsManyCountersAsItHasRoomFor) {
  std::string many;
  for (std::size_t i = 0; i < 2 * History::kMostSeries; ++i) {
    many += fmt::format("sluice_decisions_total{{rule=\"{}\",outcome=\"denied\"}} 1\n", i);
  }
  Tick("");
  Tick(many + "sluice_table_inserts_total 9\n");
  EXPECT_LE(history.series().size(), History::kMostSeries);
  EXPECT_GE(history.left_out(), History::kMostSeries);
  EXPECT_TRUE(history.series().contains("sluice_table_inserts_total"));  // Rules leave it room.
}

TEST_F(HistoryTest, GaugesAndOtherMetricsAreNotKept) {
  Tick("");
  Tick("sluice_table_slots 5\nsluice_kill_switch 1\nprocess_start_time_seconds 4\n");
  EXPECT_TRUE(history.series().empty());
  EXPECT_FALSE(History::Keeps("sluice_table_slots"));
}

std::string Degraded(int count) {
  return fmt::format("sluice_decisions_total{{rule=\"a\",outcome=\"degraded_allowed\"}} {}\n",
                     count);
}

TEST_F(HistoryTest, APeriodWithoutLimitsHasItsBeginAndItsEnd) {
  const WallInstant start = clock.Read().wall_clock;
  Tick(Degraded(0));
  Tick(Degraded(4));
  Tick(Degraded(9));
  ASSERT_EQ(history.fail_open().size(), 1U);
  EXPECT_EQ(history.fail_open().front().cause, "store");
  EXPECT_EQ(history.fail_open().front().begin, start);
  EXPECT_FALSE(history.fail_open().front().end);
  Tick(Degraded(9));
  ASSERT_EQ(history.fail_open().size(), 1U);
  EXPECT_EQ(history.fail_open().front().end, start + 3 * History::kTick);
  Tick(Degraded(10));
  EXPECT_EQ(history.fail_open().size(), 2U);
}

TEST_F(HistoryTest, EachCauseHasItsOwnPeriods) {
  Tick("");
  Tick("sluice_kill_switch 1\nsluice_table_full_allows_total 3\n");
  Tick("sluice_kill_switch 1\nsluice_table_full_allows_total 3\n");
  ASSERT_EQ(history.fail_open().size(), 2U);
  EXPECT_EQ(history.fail_open()[0].cause, "table-full");
  EXPECT_TRUE(history.fail_open()[0].end);
  EXPECT_EQ(history.fail_open()[1].cause, "kill-switch");
  EXPECT_FALSE(history.fail_open()[1].end);
}

TEST_F(HistoryTest, KeepsTheLastPeriods) {
  for (std::size_t i = 0; i <= 2 * History::kMostPeriods; ++i) {
    Tick(i % 2 == 0 ? "sluice_kill_switch 1\n" : "sluice_kill_switch 0\n");
  }
  for (std::size_t i = 0; i <= 2 * History::kMostPeriods; ++i) {
    Tick(i % 2 == 0 ? "sluice_kill_switch 1\n" : "sluice_kill_switch 0\n");
  }
  EXPECT_EQ(history.fail_open().size(), History::kMostPeriods);
}

}  // namespace
}  // namespace sluice::insight
