#include "envoy/unit.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/wide.h"

namespace sluice::envoy {

namespace {

struct Row {
  Unit unit;
  std::string_view name;
  std::int64_t seconds;
};

// By length.
constexpr std::array<Row, 7> kRows{{{Unit::kSecond, "SECOND", 1},
                                    {Unit::kMinute, "MINUTE", 60},
                                    {Unit::kHour, "HOUR", 3600},
                                    {Unit::kDay, "DAY", 86'400},
                                    {Unit::kWeek, "WEEK", 604'800},
                                    {Unit::kMonth, "MONTH", 2'592'000},
                                    {Unit::kYear, "YEAR", 31'536'000}}};

constexpr char ToUpper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

}  // namespace

Duration LengthOf(Unit unit) {
  const auto* const row = std::ranges::find(kRows, unit, &Row::unit);
  return row == kRows.end() ? Duration{} : std::chrono::seconds(row->seconds);
}

std::string_view NameOf(Unit unit) {
  const auto* const row = std::ranges::find(kRows, unit, &Row::unit);
  return row == kRows.end() ? "UNKNOWN" : row->name;
}

std::optional<Unit> UnitNamed(std::string_view name) {
  const auto* const row = std::ranges::find_if(
      kRows, [name](const Row& r) { return std::ranges::equal(name, r.name, {}, ToUpper); });
  return row == kRows.end() ? std::nullopt : std::optional(row->unit);
}

PerUnit NearestUnit(std::int64_t requests, Duration period) {
  const auto* row = std::ranges::find_if(kRows, [period](const Row& r) {
    return std::chrono::seconds(r.seconds) % period == Duration{};
  });
  row = row == kRows.end() ? &kRows.back() : row;
  const Duration length = std::chrono::seconds(row->seconds);
  const std::uint64_t scaled =
      core::FloorDivide(core::Multiply(static_cast<std::uint64_t>(requests),
                                       static_cast<std::uint64_t>(length.count())),
                        static_cast<std::uint64_t>(period.count()));
  return {.requests = static_cast<std::uint32_t>(
              std::min<std::uint64_t>(scaled, std::numeric_limits<std::uint32_t>::max())),
          .unit = row->unit};
}

}  // namespace sluice::envoy
