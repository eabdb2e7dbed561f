#include "envoy/config_check.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "envoy/config_value.h"
#include "rules/spelling.h"

namespace sluice::envoy {

namespace {

constexpr std::string_view kMetadata = "metadata";
constexpr std::array<std::string_view, 24> kKeys{
    // Those of envoyproxy/ratelimit.
    "domain", "key", "value", "descriptors", "rate_limit", "unit", "requests_per_unit", "unlimited",
    "shadow_mode", "name", "replaces", "detailed_metric", "value_to_metric", "share_threshold",
    "quota_mode", kMetadata,
    // Ours.
    "algorithm", "burst", "period", "on_store_error", "sync", "rate_limits", "value_regex",
    "value_cidr"};

void CheckItems(const YamlNode& list, Reporter& report) {
  for (const YamlNode* item : list.items) {
    if (item->is_map()) {
      CheckKeys(*item, report);
    } else {
      report.Fail(
          *item, "config error, yaml file contains list of type other than map: " + ShownAs(*item));
    }
  }
}

void CheckValue(const YamlNode& value, Reporter& report) {
  if (value.is_map()) {
    CheckKeys(value, report);
  } else if (value.is_list()) {
    CheckItems(value, report);
  } else if (const ScalarType type = TypeOf(value);
             type == ScalarType::kFloat || type == ScalarType::kTimestamp) {
    report.Fail(value, "error checking config");
  }
}

}  // namespace

void CheckKeys(const YamlNode& map, Reporter& report) {
  for (const auto& [key, value] : MembersOf(map)) {
    if (key->is_list() || key->is_map() || TypeOf(*key) != ScalarType::kText) {
      report.Fail(*key, "config error, key is not of type string: " + ShownAs(*key));
    } else if (std::ranges::find(kKeys, key->text) == kKeys.end()) {
      report.Fail(*key, "config error, unknown key '" + key->text + "'" +
                            rules::DidYouMean(key->text, kKeys));
    } else if (key->text != kMetadata) {
      CheckValue(*value, report);
    }
  }
}

}  // namespace sluice::envoy
