#include "envoy/config_value.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "rules/spelling.h"

namespace sluice::envoy {

namespace {

void FailToUnmarshal(const yaml::Node& node, std::string_view go_type, Reporter& report) {
  std::string what;
  if (node.is_list()) {
    what = "!!seq";
  } else if (node.is_map()) {
    what = "!!map";
  } else {
    what = std::string(TagOf(TypeOf(node))) + " `" + node.text + "`";
  }
  report.Fail(node, "error loading config file: yaml: unmarshal errors:\n  line " +
                        std::to_string(node.line) + ": cannot unmarshal " + what + " into " +
                        std::string(go_type));
}

void Put(Members& members, const yaml::Node& key, const yaml::Node& value) {
  const auto same = std::ranges::find_if(members, [&key](const auto& member) {
    return member.first->kind == key.kind && key.is_text() && member.first->text == key.text;
  });
  if (same == members.end()) {
    members.emplace_back(&key, &value);
  } else {
    *same = {&key, &value};
  }
}

bool IsMergeKey(const yaml::Node& key) {
  return key.is_text() && !key.quoted && key.text == "<<";
}

bool IsScalar(const yaml::Node& node) {
  return !node.is_list() && !node.is_map();
}

constexpr std::string_view kMetadata = "metadata";
constexpr std::array<std::string_view, 24> kKeys{
    // Those of envoyproxy/ratelimit.
    "domain", "key", "value", "descriptors", "rate_limit", "unit", "requests_per_unit", "unlimited",
    "shadow_mode", "name", "replaces", "detailed_metric", "value_to_metric", "share_threshold",
    "quota_mode", kMetadata,
    // Ours.
    "algorithm", "burst", "period", "on_store_error", "sync", "rate_limits", "value_regex",
    "value_cidr"};

void CheckItems(const yaml::Node& list, Reporter& report) {
  for (const yaml::Node* item : list.items) {
    if (item->is_map()) {
      CheckKeys(*item, report);
    } else {
      report.Fail(
          *item, "config error, yaml file contains list of type other than map: " + ShownAs(*item));
    }
  }
}

void CheckValue(const yaml::Node& value, Reporter& report) {
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

Members MembersOf(const yaml::Node& map) {
  Members members;
  if (!map.is_map()) {
    return members;
  }
  // What is merged comes first, so that what the map says itself stands.
  for (std::size_t i = 0; i < map.pair_count(); ++i) {
    if (!IsMergeKey(map.key(i))) {
      continue;
    }
    const yaml::Node& merged = map.value(i);
    const auto take = [&members](const yaml::Node& from) {
      for (const auto& [key, value] : MembersOf(from)) {
        Put(members, *key, *value);
      }
    };
    if (merged.is_list()) {
      // The first of a list counts most.
      for (auto item = merged.items.rbegin(); item != merged.items.rend(); ++item) {
        take(**item);
      }
    } else {
      take(merged);
    }
  }
  for (std::size_t i = 0; i < map.pair_count(); ++i) {
    if (!IsMergeKey(map.key(i))) {
      Put(members, map.key(i), map.value(i));
    }
  }
  return members;
}

std::string ReadText(const yaml::Node& node, Reporter& report) {
  if (!IsScalar(node)) {
    FailToUnmarshal(node, "string", report);
    return {};
  }
  return TypeOf(node) == ScalarType::kNull ? std::string() : node.text;
}

bool ReadBool(const yaml::Node& node, Reporter& report) {
  const ScalarType type = IsScalar(node) ? TypeOf(node) : ScalarType::kText;
  if (type == ScalarType::kNull) {
    return false;
  }
  if (type != ScalarType::kBool) {
    FailToUnmarshal(node, "bool", report);
    return false;
  }
  return TruthOf(node.text);
}

std::uint32_t ReadUint32(const yaml::Node& node, Reporter& report) {
  const ScalarType type = IsScalar(node) ? TypeOf(node) : ScalarType::kText;
  if (type == ScalarType::kNull) {
    return 0;
  }
  const auto number = type == ScalarType::kInt ? IntegerOf(node.text) : std::nullopt;
  if (!number || *number < 0 || *number > std::numeric_limits<std::uint32_t>::max()) {
    FailToUnmarshal(node, "uint32", report);
    return 0;
  }
  return static_cast<std::uint32_t>(*number);
}

std::vector<const yaml::Node*> ReadMaps(const yaml::Node& node, std::string_view go_type,
                                        Reporter& report) {
  if (node.is_list()) {
    return node.items;
  }
  if (!IsScalar(node) || TypeOf(node) != ScalarType::kNull) {
    FailToUnmarshal(node, go_type, report);
  }
  return {};
}

bool IsMapOrNull(const yaml::Node& node, std::string_view go_type, Reporter& report) {
  if (node.is_map()) {
    return true;
  }
  if (!IsScalar(node) || TypeOf(node) != ScalarType::kNull) {
    FailToUnmarshal(node, go_type, report);
  }
  return false;
}

wire::StructValue ReadMetadata(const yaml::Node& node, Reporter& report) {
  if (node.is_list()) {
    wire::StructValue::List list;
    for (const yaml::Node* item : node.items) {
      list.push_back(ReadMetadata(*item, report));
    }
    return wire::StructValue(std::move(list));
  }
  if (node.is_map()) {
    wire::StructValue object{wire::StructValue::Object{}};
    for (const auto& [key, value] : MembersOf(node)) {
      if (!IsScalar(*key) || TypeOf(*key) != ScalarType::kText) {
        report.Fail(*key, "error parsing metadata: key is not of type string: " + ShownAs(*key));
        continue;
      }
      object.Set(key->text, ReadMetadata(*value, report));
    }
    return object;
  }
  switch (TypeOf(node)) {
    case ScalarType::kNull:
      return {};
    case ScalarType::kBool:
      return wire::StructValue(TruthOf(node.text));
    case ScalarType::kInt:
    case ScalarType::kFloat:
      return wire::StructValue(NumberOf(node.text));
    case ScalarType::kTimestamp:
    case ScalarType::kText:
      break;
  }
  return wire::StructValue(node.text);
}

std::string ShownAs(const yaml::Node& node) {
  if (node.is_list()) {
    return "[...]";
  }
  if (node.is_map()) {
    return "map[...]";
  }
  switch (TypeOf(node)) {
    case ScalarType::kNull:
      return "<nil>";
    case ScalarType::kBool:
      return TruthOf(node.text) ? "true" : "false";
    default:
      return node.text;
  }
}

void CheckKeys(const yaml::Node& map, Reporter& report) {
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
