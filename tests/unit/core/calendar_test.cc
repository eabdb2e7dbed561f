#include "core/calendar.h"

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <date/date.h>
#include <gtest/gtest.h>

namespace sluice::core {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

// "2024-03-31 01:00:00", UTC.
WallInstant Utc(const std::string& text) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  EXPECT_EQ(
      std::sscanf(text.c_str(), "%d-%u-%u %d:%d:%d", &year, &month, &day, &hour, &minute, &second),
      6)
      << text;
  const date::sys_days midnight = date::year(year) / date::month(month) / date::day(day);
  return WallInstant(midnight.time_since_epoch() + std::chrono::hours(hour) +
                     std::chrono::minutes(minute) + std::chrono::seconds(second));
}

std::string Text(WallInstant at) {
  return date::format(
      "%F %T",
      std::chrono::sys_seconds(std::chrono::floor<std::chrono::seconds>(at.time_since_epoch())));
}

std::unique_ptr<const Calendar> Make(CalendarUnit unit, std::string_view zone,
                                     std::string_view anchor = "") {
  auto calendar = Calendar::Create(unit, zone, anchor);
  EXPECT_TRUE(calendar) << calendar.error().message;
  return std::move(*calendar);
}

// The periods from `first` on begin at these instants.
void ExpectEdges(const Calendar& calendar, const std::vector<std::string>& edges) {
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    for (const WallInstant when : {Utc(edges[i]), WallInstant(Utc(edges[i + 1]) - 1ns)}) {
      const Period period = calendar.At(when);
      EXPECT_EQ(Text(period.begin), edges[i]) << Text(when);
      EXPECT_EQ(Text(period.end), edges[i + 1]) << Text(when);
    }
  }
}

TEST(CalendarTest, DaysAreAsLongAsTheyAre) {
  const auto berlin = Make(CalendarUnit::kDay, "Europe/Berlin");
  ExpectEdges(*berlin, {"2024-03-29 23:00:00", "2024-03-30 23:00:00", "2024-03-31 22:00:00",
                        "2024-04-01 22:00:00"});
  ExpectEdges(*berlin, {"2024-10-26 22:00:00", "2024-10-27 23:00:00", "2024-10-28 23:00:00"});
}

TEST(CalendarTest, WeeksBeginOnMondayOrWhereAnchored) {
  ExpectEdges(*Make(CalendarUnit::kWeek, "UTC"),
              {"2024-02-26 00:00:00", "2024-03-04 00:00:00", "2024-03-11 00:00:00"});
  ExpectEdges(*Make(CalendarUnit::kWeek, "UTC", "Sunday"),
              {"2024-02-25 00:00:00", "2024-03-03 00:00:00"});
  ExpectEdges(*Make(CalendarUnit::kWeek, "UTC", "sunday"),  // In any case.
              {"2024-02-25 00:00:00", "2024-03-03 00:00:00"});
  ExpectEdges(*Make(CalendarUnit::kWeek, "America/New_York", "Saturday"),
              {"2024-03-09 05:00:00", "2024-03-16 04:00:00"});
}

TEST(CalendarTest, MonthsAndTheirAnchors) {
  ExpectEdges(*Make(CalendarUnit::kMonth, "UTC"),
              {"2024-01-01 00:00:00", "2024-02-01 00:00:00", "2024-03-01 00:00:00"});
  ExpectEdges(*Make(CalendarUnit::kMonth, "UTC", "15"),
              {"2023-12-15 00:00:00", "2024-01-15 00:00:00", "2024-02-15 00:00:00"});
  ExpectEdges(*Make(CalendarUnit::kMonth, "UTC", "31"),  // A17
              {"2023-12-31 00:00:00", "2024-01-31 00:00:00", "2024-02-29 00:00:00",
               "2024-03-31 00:00:00", "2024-04-30 00:00:00", "2024-05-31 00:00:00"});
  ExpectEdges(*Make(CalendarUnit::kMonth, "UTC", "30"),
              {"2023-01-30 00:00:00", "2023-02-28 00:00:00", "2023-03-30 00:00:00"});
}

TEST(CalendarTest, Years) {
  ExpectEdges(*Make(CalendarUnit::kYear, "UTC"),
              {"2023-01-01 00:00:00", "2024-01-01 00:00:00", "2025-01-01 00:00:00"});
  ExpectEdges(*Make(CalendarUnit::kYear, "Asia/Tokyo", "15"),
              {"2023-01-14 15:00:00", "2024-01-14 15:00:00"});
  ExpectEdges(*Make(CalendarUnit::kYear, "UTC"), {"1969-01-01 00:00:00", "1970-01-01 00:00:00"});
}

TEST(CalendarTest, ADayWithoutMidnightBeginsAtTheJump) {
  // 2018-11-04 00:00 in Sao Paulo did not exist: the clock went from 23:59:59 to 01:00:00.
  ExpectEdges(*Make(CalendarUnit::kDay, "America/Sao_Paulo"),
              {"2018-11-03 03:00:00", "2018-11-04 03:00:00", "2018-11-05 02:00:00"});
  ExpectEdges(*Make(CalendarUnit::kDay, "Asia/Beirut"),
              {"2022-03-25 22:00:00", "2022-03-26 22:00:00", "2022-03-27 21:00:00"});
}

TEST(CalendarTest, ARepeatedMidnightBeginsTheDayOnce) {
  // 2010-11-07 in Saint John's: at 00:01 the clock went back to 23:01 of the day before.
  const auto day = Make(CalendarUnit::kDay, "America/St_Johns");
  ExpectEdges(*day, {"2010-11-06 02:30:00", "2010-11-07 02:30:00", "2010-11-08 03:30:00"});
  // What the clock calls yesterday once more. Asked of a cold cache, which cannot know better.
  const auto cold = Make(CalendarUnit::kDay, "America/St_Johns");
  EXPECT_EQ(Text(cold->At(Utc("2010-11-07 03:00:00")).begin), "2010-11-07 02:30:00");
}

TEST(CalendarTest, ADayThatDoesNotExistHoldsNoInstant) {
  // Samoa skipped 2011-12-30.
  ExpectEdges(*Make(CalendarUnit::kDay, "Pacific/Apia"),
              {"2011-12-29 10:00:00", "2011-12-30 10:00:00", "2011-12-31 10:00:00"});
}

TEST(CalendarTest, RefusesUnknownZonesAndAnchorsThatDoNotFit) {
  EXPECT_FALSE(Calendar::Create(CalendarUnit::kDay, "Europe/Atlantis", ""));
  EXPECT_FALSE(Calendar::Create(CalendarUnit::kDay, "", ""));
  EXPECT_FALSE(Calendar::Create(CalendarUnit::kDay, "../../etc/passwd", ""));
  EXPECT_FALSE(Calendar::Create(CalendarUnit::kDay, "UTC", "1"));
  EXPECT_FALSE(Calendar::Create(CalendarUnit::kWeek, "UTC", "1"));
  EXPECT_FALSE(Calendar::Create(CalendarUnit::kWeek, "UTC", "Montag"));
  for (const char* anchor : {"0", "32", "-1", "1st", "Monday"}) {
    EXPECT_FALSE(Calendar::Create(CalendarUnit::kMonth, "UTC", anchor)) << anchor;
    EXPECT_FALSE(Calendar::Create(CalendarUnit::kYear, "UTC", anchor)) << anchor;
  }
}

TEST(CalendarTest, TheShapeTellsCutsApart) {
  EXPECT_EQ(Make(CalendarUnit::kMonth, "UTC")->shape(),
            Make(CalendarUnit::kMonth, "UTC", "1")->shape());
  EXPECT_NE(Make(CalendarUnit::kMonth, "UTC")->shape(),
            Make(CalendarUnit::kMonth, "UTC", "2")->shape());
  EXPECT_NE(Make(CalendarUnit::kDay, "UTC")->shape(),
            Make(CalendarUnit::kDay, "Asia/Tokyo")->shape());
  EXPECT_NE(Make(CalendarUnit::kMonth, "UTC")->shape(), Make(CalendarUnit::kYear, "UTC")->shape());
}

TEST(CalendarTest, SaysInWordsWhatIsNotTheDefault) {
  EXPECT_EQ(Make(CalendarUnit::kDay, "UTC")->Text(), "day");
  EXPECT_EQ(Make(CalendarUnit::kWeek, "UTC", "Monday")->Text(), "week");
  EXPECT_EQ(Make(CalendarUnit::kWeek, "UTC", "Sunday")->Text(), "week (from Sunday)");
  EXPECT_EQ(Make(CalendarUnit::kMonth, "Europe/Berlin", "15")->Text(),
            "month (Europe/Berlin, from day 15)");
  EXPECT_EQ(Make(CalendarUnit::kYear, "Europe/Berlin")->Text(), "year (Europe/Berlin)");
}

TEST(CalendarTest, ThreadsThatAskForDifferentDaysGetTheirOwn) {
  const auto calendar = Make(CalendarUnit::kDay, "UTC");
  const auto ask = [&calendar](int from) {
    for (int i = 0; i < 200'000; ++i) {
      const WallInstant day(24h * (from + i % 3));
      const Period period = calendar->At(day + 1h);
      ASSERT_EQ(period.begin, day);
      ASSERT_EQ(period.end, day + 24h);
    }
  };
  std::thread one(ask, 19'000);
  std::thread two(ask, 19'001);
  one.join();
  two.join();
}

}  // namespace
}  // namespace sluice::core
