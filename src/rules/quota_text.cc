#include "rules/quota_text.h"

#include "core/calendar.h"
#include "rules/value_reader.h"

namespace sluice::rules {

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
