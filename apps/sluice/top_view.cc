#include "top_view.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/display_text.h"

namespace sluice::app {

namespace {

namespace json = boost::json;

constexpr std::array<const char*, 4> kKindMembers{"allowed", "denied", "banned", "shadow"};
constexpr std::size_t kNumbers = 47;  // Columns of a line before the rule.
constexpr std::size_t kLeastRule = 12;
constexpr std::size_t kMostRule = 32;

// A member of an answer of ours; 0 or "" where it is missing.
std::int64_t TopNumber(const json::object& of, const char* member) {
  const json::value* const found = of.if_contains(member);
  return found != nullptr && found->is_int64() ? found->as_int64() : 0;
}

std::string TopText(const json::object& of, const char* member) {
  const json::value* const found = of.if_contains(member);
  return found != nullptr && found->is_string() ? std::string(found->as_string()) : "";
}

TopRow RowOf(const std::string& rule, const json::object& key) {
  TopRow row{.rule = base::DisplayText(rule),
             .key = base::DisplayText(TopText(key, "key")),
             .attributes = {},
             .raw_rule = json::serialize(json::value(rule)),
             .count = TopNumber(key, "count"),
             .at_least = TopNumber(key, "at_least"),
             .last = TopNumber(key, "last")};
  if (const json::value* const attributes = key.if_contains("attributes");
      attributes != nullptr && attributes->is_object() && !attributes->as_object().empty()) {
    row.attributes = json::serialize(*attributes);
  }
  for (std::size_t kind = 0; kind < kKindMembers.size(); ++kind) {
    row.by_kind[kind] = TopNumber(key, kKindMembers[kind]);
  }
  if (const json::value* const share = key.if_contains("share");
      share != nullptr && share->is_number()) {
    row.share = share->to_number<double>();
  }
  return row;
}

std::string ShortAge(std::int64_t seconds) {
  constexpr std::int64_t kMinuteSeconds = 60;
  constexpr std::int64_t kHourSeconds = 60 * kMinuteSeconds;
  if (seconds < 1) {
    return "now";
  }
  return seconds < kMinuteSeconds       ? fmt::format("{}s", seconds)
         : seconds < kHourSeconds       ? fmt::format("{}m", seconds / kMinuteSeconds)
         : seconds < 100 * kHourSeconds ? fmt::format("{}h", seconds / kHourSeconds)
                                        : ">4d";
}

// `text` in exactly `columns`.
std::string Padded(std::string_view text, std::size_t columns) {
  std::string shown = base::DisplayText(text, columns);
  shown.append(columns - std::min(columns, base::ColumnsOf(shown)), ' ');
  return shown;
}

std::size_t RuleColumns(std::size_t columns) {
  return columns < kNumbers ? 0 : std::clamp((columns - kNumbers) / 3, kLeastRule, kMostRule);
}

std::string LineWith(const std::string& numbers, std::string_view rule, std::string_view key,
                     std::size_t columns) {
  const std::size_t width = RuleColumns(columns);
  const std::string line = numbers + Padded(rule, width) + "  " + std::string(key);
  return base::DisplayText(line, columns);
}

}  // namespace

std::optional<TopAnswer> ReadTopAnswer(std::string_view body) {
  json::error_code error;
  const json::value parsed = json::parse(body, error);
  const json::object* const top = error ? nullptr : parsed.if_object();
  const json::value* const rules = top == nullptr ? nullptr : top->if_contains("rules");
  if (rules == nullptr || !rules->is_array()) {
    return std::nullopt;
  }
  TopAnswer answer{.kind = TopText(*top, "kind"),
                   .window = TopText(*top, "window"),
                   .window_ms = TopNumber(*top, "window_ms"),
                   .now = TopNumber(*top, "now"),
                   .rules = rules->as_array().size(),
                   .rows = {}};
  for (const json::value& item : rules->as_array()) {
    const json::object* const rule = item.if_object();
    const json::value* const keys = rule == nullptr ? nullptr : rule->if_contains("keys");
    if (keys == nullptr || !keys->is_array()) {
      continue;
    }
    for (const json::value& key : keys->as_array()) {
      if (key.is_object()) {
        answer.rows.push_back(RowOf(TopText(*rule, "rule"), key.as_object()));
      }
    }
  }
  std::ranges::stable_sort(answer.rows, std::ranges::greater{}, &TopRow::count);
  return answer;
}

void Filter(std::string_view text, TopAnswer& answer) {
  std::erase_if(answer.rows, [text](const TopRow& row) {
    return row.rule.find(text) == std::string::npos && row.key.find(text) == std::string::npos;
  });
}

std::string HeadingOf(const TopAnswer& answer, std::size_t columns) {
  const std::string window =
      answer.window == "minute"
          ? fmt::format("in the last {} s", answer.window_ms / 1000)
          : fmt::format("since the start, {} ago", ShortAge(answer.window_ms / 1000));
  const std::string kind = answer.kind == "all"      ? "keys by decisions"
                           : answer.kind == "shadow" ? "keys that shadow rules would deny"
                                                     : "keys by decisions that are " + answer.kind;
  return base::DisplayText(fmt::format("{} {}, {} rule{}, this node", kind, window, answer.rules,
                                       answer.rules == 1 ? "" : "s"),
                           columns);
}

std::string ColumnTitles(std::size_t columns) {
  return LineWith(fmt::format("{:>5} {:>6} {:>7} {:>6} {:>6} {:>6} {:>4} ", "SHARE", "RATE/s",
                              "ALLOWED", "DENIED", "BANNED", "SHADOW", "LAST"),
                  "RULE", "KEY", columns);
}

std::string LineOf(const TopRow& row, const TopAnswer& answer, std::size_t columns) {
  const double seconds = std::max(static_cast<double>(answer.window_ms) / 1000, 0.001);
  const double rate = static_cast<double>(row.count) / seconds;
  const auto count = [](std::int64_t n) {
    return n == 0 ? std::string("-") : ShortCount(static_cast<double>(n));
  };
  return LineWith(fmt::format("{:>4.0f}% {:>6} {:>7} {:>6} {:>6} {:>6} {:>4} ", row.share * 100,
                              rate < 10 ? fmt::format("{:.1f}", rate) : ShortCount(rate),
                              count(row.by_kind[0]), count(row.by_kind[1]), count(row.by_kind[2]),
                              count(row.by_kind[3]), ShortAge(answer.now - row.last)),
                  row.rule, row.key.empty() ? "(no key)" : row.key, columns);
}

std::string ShortCount(double count) {
  constexpr double kExact = 10'000;
  if (count < kExact) {
    return fmt::format("{:.0f}", count);
  }
  constexpr std::array kSuffixes{'k', 'M', 'G', 'T', 'P'};
  std::size_t suffix = 0;
  for (count /= 1000; count >= 999.5 && suffix + 1 < kSuffixes.size(); count /= 1000) {
    ++suffix;
  }
  const int digits = count < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", count, digits, kSuffixes[suffix]);
}

}  // namespace sluice::app
