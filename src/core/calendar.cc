#include "core/calendar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include <date/date.h>
#include <date/tz.h>

#include "core/wide.h"

// Days, weeks, months and years as people live them.
//
// The problem: "10,000 a month, renewed on the 31st, in Berlin". Months have 28 to 31 days,
// days have 23 to 25 hours, and a zone may skip midnight altogether. Counters that expire
// "after 30 days" or "after 24 hours" are wrong for some customer on some day.
//
// The idea: find the civil date, find the civil dates on which this period and the next one
// begin, and only then turn those two midnights into instants. Nothing is ever added to an
// instant.
//
// Corner cases:
// - An anchor past the month's end means its last day: anchor 31 begins on January 31,
//   February 29 (or 28), March 31. The anchor is applied to each month anew, so that it
//   does not get stuck at 29.
// - Midnight that does not exist (Sao Paulo until 2018, Beirut): the day begins at the jump.
// - Midnight that happens twice: the day begins at the first; the repeated half hour that
//   the clock calls yesterday belongs to the new day, for a period never comes back.
// - A whole day that does not exist (Samoa, 2011-12-30): its period is empty, and no instant
//   lies in it.
//
// The zone rules are the system's tzdata, read by Howard Hinnant's tz library. That library
// reads the transitions written out in the files and not the rule behind the last of them,
// so that after 2037 a zone keeps the offset of its last transition.
//
// Sources: H. Hinnant, date and tz; the IANA time zone database; Kong issue 2817 and its kin
// (monthly counters that expired on day 30) for what goes wrong without.
namespace sluice::core {

namespace {

constexpr std::array<std::string_view, 7> kWeekdays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                    "Thursday", "Friday", "Saturday"};
constexpr int kMonday = 1;
constexpr std::array<std::string_view, 4> kUnits{"day", "week", "month", "year"};

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// In any case: rule files say `monday` as readily as `Monday`.
std::optional<int> WeekdayNamed(std::string_view name) {
  for (std::size_t i = 0; i < kWeekdays.size(); ++i) {
    if (std::ranges::equal(kWeekdays[i], name,
                           [](char a, char b) { return Lower(a) == Lower(b); })) {
      return static_cast<int>(i);
    }
  }
  return std::nullopt;
}

std::optional<int> DayOfMonth(std::string_view text) {
  int day = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), day);
  if (error != std::errc() || end != text.data() + text.size() || day < 1 || day > 31) {
    return std::nullopt;
  }
  return day;
}

Result<int> AnchorOf(CalendarUnit unit, std::string_view text) {
  const auto fault = [&text](std::string_view remedy) {
    return tl::make_unexpected(
        Error{.message = "anchor " + std::string(text) + " does not fit: " + std::string(remedy)});
  };
  switch (unit) {
    case CalendarUnit::kDay:
      if (!text.empty()) {
        return fault("a day has no anchor, leave it out");
      }
      return 0;
    case CalendarUnit::kWeek: {
      const std::optional<int> weekday = text.empty() ? kMonday : WeekdayNamed(text);
      if (!weekday) {
        return fault("a week begins on an English weekday, such as Monday");
      }
      return *weekday;
    }
    case CalendarUnit::kMonth:
    case CalendarUnit::kYear:
      break;
  }
  const std::optional<int> day = text.empty() ? 1 : DayOfMonth(text);
  if (!day) {
    return fault("a month or a year begins on a day of the month, 1 to 31");
  }
  return *day;
}

// Where the civil day begins: the first instant of its midnight, or of what is left of it.
std::chrono::sys_seconds BeginOf(const date::time_zone& zone, date::local_days day) {
  const date::local_info info = zone.get_info(date::local_seconds(day));
  if (info.result == date::local_info::nonexistent) {
    return info.first.end;
  }
  return std::chrono::sys_seconds(date::local_seconds(day).time_since_epoch() - info.first.offset);
}

date::local_days AnchoredDay(date::year_month month, int anchor) {
  const date::year_month_day_last last = month / date::last;
  const date::day day = std::min(date::day(static_cast<unsigned>(anchor)), last.day());
  return date::local_days(month / day);
}

// The civil days on which the period that holds `day` and the one after it begin.
struct CivilPeriod {
  date::local_days begin;
  date::local_days end;
};

CivilPeriod MonthsAround(date::local_days day, date::year_month first, date::months length,
                         int anchor) {
  if (day < AnchoredDay(first, anchor)) {
    first -= length;
  }
  return {AnchoredDay(first, anchor), AnchoredDay(first + length, anchor)};
}

CivilPeriod CivilPeriodOf(CalendarUnit unit, int anchor, date::local_days day) {
  const date::year_month_day civil(day);
  switch (unit) {
    case CalendarUnit::kDay:
      break;
    case CalendarUnit::kWeek: {
      const date::weekday first(static_cast<unsigned>(anchor));
      const date::local_days begin = day - (date::weekday(day) - first);
      return {begin, begin + date::weeks(1)};
    }
    case CalendarUnit::kMonth:
      return MonthsAround(day, civil.year() / civil.month(), date::months(1), anchor);
    case CalendarUnit::kYear:
      return MonthsAround(day, civil.year() / date::January, date::months(12), anchor);
  }
  return {day, day + date::days(1)};
}

// The edges of time as 64 bits of nanoseconds hold it (1677 and 2262).
WallInstant AtSecond(std::chrono::sys_seconds second) {
  constexpr std::int64_t kPerSecond = 1'000'000'000;
  std::int64_t ns = 0;
  const std::int64_t count = second.time_since_epoch().count();
  if (__builtin_mul_overflow(count, kPerSecond, &ns)) {
    ns = count < 0 ? std::numeric_limits<std::int64_t>::min()
                   : std::numeric_limits<std::int64_t>::max();
  }
  return WallInstant(Duration(ns));
}

}  // namespace

std::string_view NameOf(CalendarUnit unit) {
  return kUnits[static_cast<std::size_t>(unit)];
}

std::optional<CalendarUnit> CalendarUnitNamed(std::string_view name) {
  const auto* const found = std::ranges::find(kUnits, name);
  return found == kUnits.end() ? std::nullopt
                               : std::optional(static_cast<CalendarUnit>(found - kUnits.begin()));
}

Calendar::Calendar(CalendarUnit unit, const date::time_zone* zone, int anchor, std::string shape)
    : unit_(unit), anchor_(anchor), zone_(zone), shape_(std::move(shape)) {}

Result<std::unique_ptr<const Calendar>> Calendar::Create(CalendarUnit unit, std::string_view zone,
                                                         std::string_view anchor) {
  const Result<int> day = AnchorOf(unit, anchor);
  if (!day) {
    return tl::make_unexpected(day.error());
  }
  const date::time_zone* found = nullptr;
  try {
    found = date::locate_zone(std::string(zone));
    // The zone's file is read at the first question; better now than in the middle of a check.
    (void)found->get_info(std::chrono::sys_seconds{});
  } catch (const std::exception&) {
    return tl::make_unexpected(
        Error{.message = "unknown time zone " + std::string(zone) +
                         ": give an IANA name that this machine's tzdata has, such as "
                         "Europe/Berlin or UTC"});
  }
  std::string shape(NameOf(unit));
  shape += ' ';
  shape += zone;
  shape += ' ' + std::to_string(*day);
  return std::unique_ptr<const Calendar>(new Calendar(unit, found, *day, std::move(shape)));
}

std::unique_ptr<const Calendar> Calendar::Copy() const {
  return std::unique_ptr<const Calendar>(new Calendar(unit_, zone_, anchor_, shape_));
}

std::string Calendar::Text() const {
  std::string aside;
  if (zone_->name() != "UTC") {
    aside = zone_->name();
  }
  if (unit_ != CalendarUnit::kDay && anchor_ != 1) {  // The 1st, and Monday.
    aside += aside.empty() ? "from " : ", from ";
    aside += unit_ == CalendarUnit::kWeek
                 ? std::string(kWeekdays[static_cast<std::size_t>(anchor_)])
                 : "day " + std::to_string(anchor_);
  }
  return std::string(NameOf(unit_)) + (aside.empty() ? "" : " (" + aside + ")");
}

Period Calendar::At(WallInstant when) const {
  Period period{};
  if (!Cached(when, period)) {
    period = Compute(when);
    Remember(period);
  }
  return period;
}

Period Calendar::Compute(WallInstant when) const {
  const std::chrono::sys_seconds second(
      std::chrono::floor<std::chrono::seconds>(when.time_since_epoch()));
  const date::local_seconds local(second.time_since_epoch() + zone_->get_info(second).offset);
  CivilPeriod civil = CivilPeriodOf(unit_, anchor_, std::chrono::floor<date::days>(local));
  std::chrono::sys_seconds end = BeginOf(*zone_, civil.end);
  if (second >= end) {
    // The clock was set back over the midnight that ended the period.
    civil = CivilPeriodOf(unit_, anchor_, civil.end);
    end = BeginOf(*zone_, civil.end);
  }
  return {AtSecond(BeginOf(*zone_, civil.begin)), AtSecond(end)};
}

bool Calendar::Cached(WallInstant when, Period& period) const {
  // Acquire on the two ends keeps the second look at the version behind them; it pairs with
  // the release stores of Remember().
  const std::uint32_t before = version_.load(std::memory_order_acquire);
  const std::int64_t begin = begin_ns_.load(std::memory_order_acquire);
  const std::int64_t end = end_ns_.load(std::memory_order_acquire);
  const std::uint32_t after = version_.load(std::memory_order_relaxed);
  period = {WallInstant(Duration(begin)), WallInstant(Duration(end))};
  return before == after && before % 2 == 0 && period.begin <= when && when < period.end;
}

void Calendar::Remember(const Period& period) const {
  std::uint32_t version = version_.load(std::memory_order_relaxed);
  // A thread that finds another writer leaves the work to it: it is only a cache.
  if (version % 2 != 0 ||
      !version_.compare_exchange_strong(version, version + 1, std::memory_order_acq_rel)) {
    return;
  }
  // Release on the two ends keeps them behind the odd version, and on the last version keeps that
  // behind them. A reader that sees one of the new ends therefore sees that the version has
  // changed.
  begin_ns_.store(period.begin.time_since_epoch().count(), std::memory_order_release);
  end_ns_.store(period.end.time_since_epoch().count(), std::memory_order_release);
  version_.store(version + 2, std::memory_order_release);
}

}  // namespace sluice::core
