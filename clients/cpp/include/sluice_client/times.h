#pragma once

// Times as header fields state them: seconds, dates, durations, epochs.
// The rules are those of clients/vectors/README.md, *Which field counts?*

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "text.h"

namespace sluice_client::detail {

struct Decimal {
  std::string_view whole;
  std::string_view fraction;
};

// Digits, and maybe a point and digits.
inline std::optional<Decimal> TakeDecimal(Scanner& scanner) {
  Decimal decimal;
  decimal.whole = scanner.Digits();
  if (decimal.whole.empty()) {
    return std::nullopt;
  }
  Scanner behind = scanner;
  if (behind.Take(".")) {
    decimal.fraction = behind.Digits();
    if (!decimal.fraction.empty()) {
      scanner = behind;
    }
  }
  return decimal;
}

// Units of `unit_ms` milliseconds, as whole milliseconds, rounded up.
inline std::int64_t ToMs(Decimal decimal, std::int64_t unit_ms) {
  const std::int64_t whole = Times(Saturated(decimal.whole), unit_ms);
  std::string_view fraction = decimal.fraction;
  fraction.remove_suffix(fraction.size() -
                         std::min(fraction.find_last_not_of('0') + 1, fraction.size()));
  std::int64_t part = 0;  // In millionths.
  for (std::size_t i = 0; i < 6; ++i) {
    part = part * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
  }
  part *= unit_ms;
  const std::int64_t more =
      fraction.size() > 6 ? part / 1'000'000 + 1 : (part + 999'999) / 1'000'000;
  return std::min(whole + more, kMostMs);
}

inline std::optional<Decimal> ReadDecimal(std::string_view text) {
  Scanner scanner{text};
  const std::optional<Decimal> decimal = TakeDecimal(scanner);
  return scanner.rest.empty() ? decimal : std::nullopt;
}

// A number of units; nothing if unreadable.
inline std::optional<std::int64_t> DecimalMs(std::string_view text, std::int64_t unit_ms = 1000) {
  const std::optional<Decimal> decimal = ReadDecimal(text);
  return decimal ? std::optional<std::int64_t>(ToMs(*decimal, unit_ms)) : std::nullopt;
}

// Days since 1970-01-01 in the Gregorian calendar. `month` from 1.
inline std::int64_t DaysOf(std::int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;  // A year begins in March, so that its leap day is its last.
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t of_era = year - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
}

struct CivilTime {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;

  [[nodiscard]] std::optional<std::int64_t> UnixMs() const {
    static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (year < 1 || month < 1 || month > 12 || day < 1 ||
        day > kDays[month - 1] + (month == 2 && leap ? 1 : 0) || hour > 23 || minute > 59 ||
        second > 60) {
      return std::nullopt;
    }
    return (DaysOf(year, month, day) * 86'400 + hour * 3600 + minute * 60 + second) * 1000;
  }
};

inline constexpr std::string_view kMonths = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
inline constexpr std::string_view kDayNames = "Mon Tue Wed Thu Fri Sat Sun";
inline constexpr std::string_view kLongDayNames =
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday";

inline bool TakeTime(Scanner& scanner, CivilTime& time) {
  return scanner.Number(2, time.hour) && scanner.Take(":") && scanner.Number(2, time.minute) &&
         scanner.Take(":") && scanner.Number(2, time.second);
}

// An HTTP-date (RFC 9110, 5.6.7) in Unix milliseconds; `now_ms` decides the century of a year of
// two digits.
inline std::optional<std::int64_t> HttpDateMs(std::string_view text, std::int64_t now_ms) {
  int index = 0;
  const auto month = [&](Scanner& scanner, CivilTime& time) {
    const bool found = scanner.Word(kMonths, index);
    time.month = index + 1;
    return found;
  };
  CivilTime time;
  if (Scanner fixed{text}; fixed.Word(kDayNames, index) && fixed.Take(", ") &&
                           fixed.Number(2, time.day) && fixed.Take(" ") && month(fixed, time) &&
                           fixed.Take(" ") && fixed.Number(4, time.year) && fixed.Take(" ") &&
                           TakeTime(fixed, time) && fixed.rest == " GMT") {
    return time.UnixMs();
  }
  if (Scanner asc{text}; asc.Word(kDayNames, index) && asc.Take(" ") && month(asc, time) &&
                         asc.Take(" ") && asc.Number(asc.Take(" ") ? 1 : 2, time.day) &&
                         asc.Take(" ") && TakeTime(asc, time) && asc.Take(" ") &&
                         asc.Number(4, time.year) && asc.rest.empty()) {
    return time.UnixMs();
  }
  if (Scanner old{text}; old.Word(kLongDayNames, index) && old.Take(", ") &&
                         old.Number(2, time.day) && old.Take("-") && month(old, time) &&
                         old.Take("-") && old.Number(2, time.year) && old.Take(" ") &&
                         TakeTime(old, time) && old.rest == " GMT") {
    constexpr std::int64_t kYearMs = 31'556'952'000;
    const int this_year = static_cast<int>(1970 + now_ms / kYearMs);
    time.year += this_year - this_year % 100;
    time.year -= time.year > this_year + 50 ? 100 : 0;
    return time.UnixMs();
  }
  return std::nullopt;
}

inline std::optional<std::int64_t> Rfc3339Ms(std::string_view text) {
  Scanner scanner{text};
  CivilTime time;
  if (!(scanner.Number(4, time.year) && scanner.Take("-") && scanner.Number(2, time.month) &&
        scanner.Take("-") && scanner.Number(2, time.day) &&
        (scanner.Take("T") || scanner.Take("t") || scanner.Take(" ")) && TakeTime(scanner, time))) {
    return std::nullopt;
  }
  std::optional<std::int64_t> at = time.UnixMs();
  if (at && scanner.Take(".")) {
    const std::string_view fraction = scanner.Digits();
    if (fraction.empty()) {
      return std::nullopt;
    }
    *at += ToMs({"0", fraction}, 1000);
  }
  if (scanner.rest == "Z" || scanner.rest == "z") {
    return at;
  }
  const bool west = scanner.Take("-");
  int hours = 0;
  int minutes = 0;
  if (!(west || scanner.Take("+")) || !scanner.Number(2, hours) || !scanner.Take(":") ||
      !scanner.Number(2, minutes) || !scanner.rest.empty()) {
    return std::nullopt;
  }
  const std::int64_t offset = (hours * 60 + minutes) * 60'000;
  return at ? std::optional<std::int64_t>(west ? *at + offset : *at - offset) : at;
}

// "1h2m3.5s", "17ms": each unit at most once, the largest first.
inline std::optional<std::int64_t> DurationMs(std::string_view text) {
  struct Unit {
    std::string_view name;
    std::int64_t ms;
    bool decimal;
  };
  static constexpr Unit kUnits[] = {{"d", 86'400'000, false},
                                    {"h", 3'600'000, false},
                                    {"m", 60'000, false},
                                    {"s", 1000, true},
                                    {"ms", 1, true}};
  Scanner scanner{text};
  std::int64_t total = 0;
  for (std::size_t next = 0; !scanner.rest.empty();) {
    const std::optional<Decimal> decimal = TakeDecimal(scanner);
    const std::string_view name =
        scanner.TakeAll("dhms", scanner.rest.substr(0, 2) == "ms" ? 2 : 1);
    while (next < std::size(kUnits) && kUnits[next].name != name) {
      ++next;
    }
    if (!decimal || next == std::size(kUnits) ||
        (!decimal->fraction.empty() && !kUnits[next].decimal)) {
      return std::nullopt;
    }
    total = std::min(total + ToMs(*decimal, kUnits[next++].ms), kMostMs);
  }
  return text.empty() ? std::nullopt : std::optional<std::int64_t>(total);
}

// Milliseconds from now until a reset that is written in any of the usual ways; 0 if unreadable or
// past.
inline std::int64_t ResetInMs(std::string_view text, std::int64_t server_now_ms,
                              std::int64_t now_ms) {
  const auto from_now = [&](std::optional<std::int64_t> at) {
    return at ? std::max<std::int64_t>(0, *at - server_now_ms) : 0;
  };
  if (const std::optional<Decimal> number = ReadDecimal(text)) {
    const std::size_t zeros = std::min(number->whole.find_first_not_of('0'), number->whole.size());
    const std::size_t digits = number->whole.size() - zeros;
    return digits <= 9    ? ToMs(*number, 1000)  // A time to wait: 10^9 seconds are 31 years.
           : digits <= 11 ? from_now(ToMs(*number, 1000))
           : digits <= 14 ? from_now(ToMs(*number, 1))
                          : 0;
  }
  if (const std::optional<std::int64_t> duration = DurationMs(text)) {
    return *duration;
  }
  const std::optional<std::int64_t> at = Rfc3339Ms(text);
  return from_now(at ? at : HttpDateMs(text, now_ms));
}

}  // namespace sluice_client::detail
