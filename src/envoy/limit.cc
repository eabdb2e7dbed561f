#include "envoy/limit.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

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

// A name is of use to people; this bounds what a long path makes of a header.
constexpr std::size_t kMostNameBytes = 128;

std::string Printable(std::string text) {
  text.resize(std::min(text.size(), kMostNameBytes));
  std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '_');
  return text;
}

// "60s", "1500ms".
std::string PeriodText(Duration period) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  return period % seconds(1) == Duration{} ? std::to_string(period / seconds(1)) + "s"
                                           : std::to_string(period / milliseconds(1)) + "ms";
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

std::string PolicyNameOf(const Limit& limit, std::string_view domain, bool of_list) {
  if (!limit.name.empty()) {
    return Printable(limit.name);
  }
  std::string name = limit.path.substr(std::min(domain.size() + 1, limit.path.size()));
  if (of_list) {
    name += '-' + PeriodText(limit.quota.window);
    if (limit.quota.algorithm != core::Algorithm::kAttemptWindow) {
      name += '-';
      name += core::NameOf(limit.quota.algorithm);
    }
  }
  return Printable(std::move(name));
}

bool IsHonoured(const wire::RlsOverride& override) {
  return override.unit >= 1 && override.unit <= kMostUnit;
}

Limit LimitOf(const wire::RlsOverride& override, std::string_view domain,
              std::span<const wire::RlsEntry> entries) {
  Limit limit;
  limit.unit = static_cast<Unit>(override.unit);
  limit.requests_per_unit = override.requests_per_unit;
  limit.quota.algorithm = core::Algorithm::kAttemptWindow;
  limit.quota.limit = limit.requests_per_unit;
  limit.quota.window = LengthOf(limit.unit);
  limit.path = domain;
  for (const wire::RlsEntry& entry : entries) {
    limit.path += '.';
    limit.path += entry.key;
  }
  limit.policy = PolicyNameOf(limit, domain, false);
  return limit;
}

}  // namespace sluice::envoy
