#include <algorithm>
#include <array>
#include <utility>

#include "rules/quota_reader.h"
#include "rules/spelling.h"
#include "rules/value_reader.h"

// What a quota has besides its numbers: the window, its calendar, and the reserves.
namespace sluice::rules {

namespace {

using core::CalendarUnit;
using core::QuotaField;

constexpr std::array<std::string_view, 5> kUnitWords{"second", "minute", "hour", "day", "week"};
constexpr std::array<Duration, 5> kUnitLengths{std::chrono::seconds(1), std::chrono::minutes(1),
                                               std::chrono::hours(1), std::chrono::hours(24),
                                               std::chrono::hours(24 * 7)};

}  // namespace

const core::Calendar* QuotaShelf::Keep(std::unique_ptr<const core::Calendar> calendar) {
  for (const auto& kept : calendars_) {
    if (kept->shape() == calendar->shape()) {
      return kept.get();
    }
  }
  calendars_.push_back(std::move(calendar));
  return calendars_.back().get();
}

const core::Reserves* QuotaShelf::Keep(core::Reserves reserves) {
  reserves_.push_back(std::make_unique<const core::Reserves>(std::move(reserves)));
  return reserves_.back().get();
}

void QuotaReader::ReadWindow(const Fields& rule, core::Quota& quota) {
  if (core::TraitsOf(quota.algorithm).fields.Has(QuotaField::kHoldTtl)) {
    if (const yaml::Node* node = rule.Get("hold_ttl"); node != nullptr) {
      const auto ttl = ReadDuration(*node, "hold_ttl", report_);
      window_faulty_ |= !ttl.has_value();
      quota.window = ttl.value_or(Duration(0));
    }
    return;
  }
  const yaml::Node* window = rule.Get("window");
  const yaml::Node* unit = rule.Get("unit");
  std::optional<CalendarUnit> calendar;
  if (window != nullptr && unit != nullptr) {
    report_.Fail(rule.KeyOf("unit"), "window and unit mean the same: remove one of them");
    window_faulty_ = true;
  } else if (window != nullptr) {
    calendar = window->is_text() ? core::CalendarUnitNamed(window->text) : std::nullopt;
    if (!calendar.has_value()) {
      const auto length = ReadDuration(*window, "window", report_);
      window_faulty_ |= !length.has_value();
      quota.window = length.value_or(Duration(0));
    } else if (!core::TraitsOf(quota.algorithm).fields.Has(QuotaField::kCalendar)) {
      report_.Fail(*window, "window: " + window->text + " is a calendar period, which only " +
                                core::OwnersOf(QuotaField::kCalendar) +
                                " supports: write 1d, 7d or 30d");
      window_faulty_ = true;
    }
  } else if (unit != nullptr) {
    if (unit->is_text() && (unit->text == "month" || unit->text == "year")) {
      report_.Fail(*unit, "unit: " + unit->text +
                              " has no fixed length: write window: 30d, or "
                              "for the calendar's window: " +
                              unit->text);
      window_faulty_ = true;
    } else if (const auto word = ReadWord(*unit, "unit", kUnitWords, report_)) {
      quota.window = kUnitLengths[*word];
    } else {
      window_faulty_ = true;
    }
  }
  if (calendar.has_value() && core::TraitsOf(quota.algorithm).fields.Has(QuotaField::kCalendar)) {
    ReadCalendar(rule, *calendar, quota);
    return;
  }
  for (const std::string_view field : {"time_zone", "anchor"}) {
    if (rule.Get(field) != nullptr &&
        core::TraitsOf(quota.algorithm).fields.Has(QuotaField::kCalendar)) {
      report_.Fail(rule.KeyOf(field), std::string(field) +
                                          " needs a calendar period: write window: day, week, "
                                          "month or year");
    }
  }
}

void QuotaReader::ReadCalendar(const Fields& rule, CalendarUnit unit, core::Quota& quota) {
  const yaml::Node* zone_node = rule.Get("time_zone");
  const yaml::Node* anchor_node = rule.Get("anchor");
  std::optional<std::string> zone = "UTC";
  std::optional<std::string> anchor = "";
  if (zone_node != nullptr) {
    zone = ReadText(*zone_node, "time_zone", report_);
  }
  if (anchor_node != nullptr) {
    anchor = ReadText(*anchor_node, "anchor", report_);
  }
  window_faulty_ = true;
  if (!zone.has_value() || !anchor.has_value()) {
    return;
  }
  // First without the anchor, so that the problem points at the field that is wrong.
  if (const auto plain = core::Calendar::Create(unit, *zone, ""); !plain.has_value()) {
    report_.Fail(zone_node != nullptr ? *zone_node : rule.KeyOf("window"), plain.error().message);
    return;
  }
  auto calendar = core::Calendar::Create(unit, *zone, *anchor);
  if (!calendar.has_value()) {
    report_.Fail(anchor_node != nullptr ? *anchor_node : rule.KeyOf("window"),
                 calendar.error().message);
    return;
  }
  window_faulty_ = false;
  quota.calendar = shelf_.Keep(std::move(*calendar));
}

void QuotaReader::ReadReserves(const yaml::Node& node, core::Quota& quota) {
  if (!node.is_map() || node.items.empty()) {
    report_.Fail(node, "reserve must be a map from priority to share, as in {critical: 20%}");
    return;
  }
  if (node.pair_count() > core::Reserves::kMost) {
    report_.Fail(node,
                 "reserve: more than " + std::to_string(core::Reserves::kMost) + " priorities");
    return;
  }
  int total = 0;
  core::Reserves reserves;
  for (std::size_t i = 0; i < node.pair_count(); ++i) {
    if (!node.key(i).is_text()) {
      continue;
    }
    const yaml::Node& share = node.value(i);
    const std::string_view text = share.text;
    int percent = 0;
    const bool shaped = share.is_text() && text.size() >= 2 && text.size() <= 4 &&
                        text.back() == '%' &&
                        std::all_of(text.begin(), text.end() - 1, [&](char c) {
                          percent = (percent * 10) + (c - '0');
                          return c >= '0' && c <= '9';
                        });
    if (!shaped || percent < 1 || percent > 100) {
      report_.Fail(share, "reserve " + node.key(i).text + ": write a share from 1% to 100%");
      continue;
    }
    total += percent;
    reserves.Add(node.key(i).text, percent);
  }
  if (total > 100) {
    report_.Fail(node, "reserve: the shares add up to " + std::to_string(total) +
                           "%, which is more than the whole");
  }
  if (!reserves.empty()) {
    quota.reserves = shelf_.Keep(std::move(reserves));
  }
}

}  // namespace sluice::rules
