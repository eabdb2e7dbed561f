#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sluice/time.h"

namespace sluice::envoy {

// RateLimitResponse.RateLimit.Unit, by its numbers on the wire.
enum class Unit : std::uint8_t {
  kUnknown = 0,
  kSecond = 1,
  kMinute = 2,
  kHour = 3,
  kDay = 4,
  kMonth = 5,
  kYear = 6,
  kWeek = 7,
};
inline constexpr std::uint32_t kMostUnit = 7;

// A month is 30 days, a year 365: windows of these lengths begin at multiples of them since the
// epoch. 0 of kUnknown.
[[nodiscard]] Duration LengthOf(Unit unit);
// "MINUTE".
[[nodiscard]] std::string_view NameOf(Unit unit);
// In any case of letters; kUnknown by no name.
[[nodiscard]] std::optional<Unit> UnitNamed(std::string_view name);

// What a quota of `requests` per `period` is in the nearest unit: the shortest one that is a
// multiple of the period, with as many times the requests; else the longest, rounded down.
struct PerUnit {
  std::uint32_t requests = 0;
  Unit unit = Unit::kUnknown;
};
[[nodiscard]] PerUnit NearestUnit(std::int64_t requests, Duration period);

}  // namespace sluice::envoy
