#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/result.h"
#include "sluice/time.h"

namespace sluice::core {

// A civil period: half-open, [begin, end).
struct Period {
  WallInstant begin;
  WallInstant end;
};

enum class CalendarUnit : std::uint8_t { kDay, kWeek, kMonth, kYear };

// Cuts civil time into days, weeks, months or years in one time zone. A civil day is as
// long as it is (23, 24 or 25 hours). Immutable but for a cache of the period last asked
// for; safe from any thread; At() allocates nothing once the cache is warm.
class Calendar {
 public:
  // `zone`: an IANA name ("Europe/Berlin", "UTC"). `anchor`: for months (and years) the day of
  // the month on which periods begin, 1 to 31, short months begin at their last day; for weeks
  // an English weekday name ("Monday", the default); "" is the default. Errors: unknown zone,
  // an anchor that does not fit the unit.
  static Result<Calendar> Create(CalendarUnit unit, std::string_view zone, std::string_view anchor);

  [[nodiscard]] Period At(WallInstant when) const;

  // Tells apart calendars that cut differently: part of a key's shape.
  [[nodiscard]] std::string_view shape() const;
};

}  // namespace sluice::core
