#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/result.h"
#include "sluice/time.h"

namespace date {
class time_zone;  // NOLINT(readability-identifier-naming): Its library names it so.
}

namespace sluice::core {

// A civil period: half-open, [begin, end).
struct Period {
  WallInstant begin;
  WallInstant end;
};

enum class CalendarUnit : std::uint8_t { kDay, kWeek, kMonth, kYear };
// "day", "week", "month", "year": what rule files call them.
[[nodiscard]] std::string_view NameOf(CalendarUnit unit);
[[nodiscard]] std::optional<CalendarUnit> CalendarUnitNamed(std::string_view name);

// Cuts civil time into days, weeks, months or years in one time zone. A civil day is as
// long as it is (23, 24 or 25 hours); where a zone skips midnight, the day begins at the
// first instant that exists, and where midnight comes twice, at the first of the two.
// Immutable but for a cache of the period last asked for; safe from any thread; At()
// allocates nothing and takes no lock once the cache is warm.
class Calendar {
 public:
  // `zone`: an IANA name ("Europe/Berlin", "UTC"). `anchor`: for months the day of the month
  // on which periods begin, 1 to 31, short months begin at their last day; for years the same
  // day of January; for weeks an English weekday name ("Monday", the default); "" is the
  // default. Errors: unknown zone, an anchor that does not fit the unit.
  [[nodiscard]] static Result<std::unique_ptr<const Calendar>> Create(CalendarUnit unit,
                                                                      std::string_view zone,
                                                                      std::string_view anchor);

  // Another that cuts as this one does, for who keeps it longer than this one lives.
  [[nodiscard]] std::unique_ptr<const Calendar> Copy() const;

  // The period that holds `when`.
  [[nodiscard]] Period At(WallInstant when) const;

  // "month", and in brackets what is not the default: "month (Europe/Berlin, from day 15)".
  [[nodiscard]] std::string Text() const;

  // Tells apart calendars that cut differently: part of a key's shape. "month Europe/Berlin 15".
  [[nodiscard]] std::string_view shape() const { return shape_; }

 private:
  Calendar(CalendarUnit unit, const date::time_zone* zone, int anchor, std::string shape);

  [[nodiscard]] Period Compute(WallInstant when) const;
  [[nodiscard]] bool Cached(WallInstant when, Period& period) const;
  void Remember(const Period& period) const;

  const CalendarUnit unit_;
  const int anchor_;  // Day of the month, or weekday with Sunday = 0.
  const date::time_zone* const zone_;
  const std::string shape_;

  // A seqlock: odd during a write. An empty period matches nothing.
  mutable std::atomic<std::uint32_t> version_{0};
  mutable std::atomic<std::int64_t> begin_ns_{0};
  mutable std::atomic<std::int64_t> end_ns_{0};
};

}  // namespace sluice::core
