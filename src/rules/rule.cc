#include "rules/rule.h"

#include "core/calendar.h"
#include "rules/value_reader.h"

namespace sluice::rules {

std::string_view NameOf(Mode mode) {
  switch (mode) {
    case Mode::kEnforce:
      return "enforce";
    case Mode::kShadow:
      return "shadow";
    case Mode::kOff:
      break;
  }
  return "off";
}

std::string_view NameOf(OnStoreError policy) {
  switch (policy) {
    case OnStoreError::kAllow:
      return "allow";
    case OnStoreError::kDeny:
      return "deny";
    case OnStoreError::kFail:
      return "fail";
    case OnStoreError::kLocal:
      break;
  }
  return "local";
}

Mode ModeOverrides::Effective(const Rule& rule) const {
  if (all.has_value()) {
    return *all;
  }
  if (!by_rule.empty()) {
    if (const auto found = by_rule.find(rule.id); found != by_rule.end()) {
      return found->second;
    }
  }
  return rule.mode;
}

std::string QuotaText(const core::Quota& quota) {
  if (quota.unlimited) {
    return "unlimited";
  }
  const std::string window =
      quota.calendar != nullptr ? quota.calendar->Text() : DurationText(quota.window);
  const std::string limit = std::to_string(quota.limit);
  if (core::IsBucket(quota.algorithm)) {
    return std::to_string(quota.rate) + " per " + window + ", at most " + limit + " at once";
  }
  if (!core::HasHolds(quota.algorithm)) {
    return limit + " per " + window;
  }
  const Units ceiling = core::CeilingOf(quota);
  const std::string share =
      ceiling == quota.limit ? "" : " (" + std::to_string(ceiling) + " for this priority)";
  return limit + " at the same time" + share + ", hold_ttl " + window;
}

}  // namespace sluice::rules
