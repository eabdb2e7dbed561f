#include "replay/human_text.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

#include <date/date.h>
#include <fmt/format.h>

#include "core/calendar.h"

namespace sluice::replay {

std::string Grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string Grouped(Units units) {
  return units < 0 ? "-" + Grouped(static_cast<std::uint64_t>(-units))
                   : Grouped(static_cast<std::uint64_t>(units));
}

std::string Percent(std::uint64_t part, std::uint64_t whole) {
  if (part == 0 || whole == 0) {
    return "0 %";
  }
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent < 0.01) {
    return "< 0.01 %";
  }
  return percent < 1 ? fmt::format("{:.2f} %", percent) : fmt::format("{:.1f} %", percent);
}

std::string WindowText(Duration window) {
  constexpr std::array<std::pair<std::int64_t, std::string_view>, 5> kUnits{
      {{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "m"}, {1'000, "s"}, {1, "ms"}}};
  const std::int64_t ms = window.count() / 1'000'000;
  for (const auto& [unit, name] : kUnits) {
    if (ms >= unit && ms % unit == 0) {
      return fmt::format("{}{}", ms / unit, name);
    }
  }
  return "0s";
}

std::string SpanText(Duration span) {
  const double seconds = std::chrono::duration<double>(span).count();
  if (seconds < 1) {
    return fmt::format("{:.0f} ms", seconds * 1e3);
  }
  if (seconds < 120) {
    return fmt::format("{:.0f} s", seconds);
  }
  if (seconds < 7200) {
    return fmt::format("{:.0f} min", seconds / 60);
  }
  return seconds < 172'800 ? fmt::format("{:.1f} hours", seconds / 3600)
                           : fmt::format("{:.1f} days", seconds / 86'400);
}

std::string InstantText(WallInstant at) {
  const date::sys_time<std::chrono::seconds> second{
      std::chrono::floor<std::chrono::seconds>(at.time_since_epoch())};
  return date::format("%F %T", second);
}

std::string ShareOfKeys(std::uint64_t share_ppm) {
  return share_ppm == 1'000'000
             ? "the highest"
             : fmt::format("{:g} % up to", static_cast<double>(share_ppm) / 10'000);
}

std::string QuotaText(const core::Quota& quota) {
  if (quota.unlimited) {
    return "unlimited";
  }
  if (core::HasHolds(quota.algorithm)) {
    return Grouped(quota.limit) + " in flight";
  }
  if (quota.calendar != nullptr) {
    const std::string_view shape = quota.calendar->shape();
    return fmt::format("{} per {}", Grouped(quota.limit), shape.substr(0, shape.find(' ')));
  }
  if (core::IsBucket(quota.algorithm)) {
    return fmt::format("{} per {}, burst {}", Grouped(quota.rate), WindowText(quota.window),
                       Grouped(quota.limit));
  }
  return fmt::format("{} per {}", Grouped(quota.limit), WindowText(quota.window));
}

}  // namespace sluice::replay
