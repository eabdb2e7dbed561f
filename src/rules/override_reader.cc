#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/key_codec.h"
#include "rules/attribute_value.h"
#include "rules/fields.h"
#include "rules/rule_reader.h"
#include "rules/value_reader.h"

namespace sluice::rules {

namespace {

// The text in keys for the address or block `text`; "" after reporting a problem.
std::string CanonicalIp(const yaml::Node& at, const std::string& text, const AttributeKind& kind,
                        Reporter& report) {
  const IpGrouping& grouping = kind.grouping;
  if (const auto address = IpAddress::Parse(text); address.has_value()) {
    return std::string(grouping.KeyText(address->Embedded(kind.nat64)).view());
  }
  const auto block = IpPrefix::Parse(text);
  if (!block.has_value()) {
    report.Fail(at, "overrides: " + text + " is not an address");
    return "";
  }
  const int length = block->network.v6 ? grouping.v6_prefix : grouping.v4_prefix;
  if (block->length != length || block->HasHostBits()) {
    report.Fail(at, "overrides: " + text + " is not a key: addresses are grouped by /" +
                        std::to_string(length) + ", as in " +
                        std::string(grouping.KeyText(block->network).view()));
    return "";
  }
  return std::string(grouping.KeyText(block->network).view());
}

}  // namespace

void ReadOverrides(const yaml::Node& node, std::span<const AttributeId> key,
                   const AttributeTable& attributes, QuotaReader& quotas, Reporter& report,
                   OverrideTable& table) {
  if (!node.is_map()) {
    report.Fail(node,
                "overrides must be a map from key value to numbers, as in u_42: {rate: 5000}");
    return;
  }
  if (node.pair_count() > kMaxOverrides) {
    report.Fail(node, "more than " + std::to_string(kMaxOverrides) + " overrides");
    return;
  }
  if (key.empty()) {
    if (node.pair_count() > 0) {
      report.Fail(node, "overrides need a key value, and key_pattern has no attribute");
    }
    return;
  }
  table.reserve(node.pair_count());
  // One key in two spellings. yaml::Tree reports the same spelling twice.
  const bool spelled_freely =
      key.size() > 1 || attributes.kind(key.front()).form != ValueForm::kText;
  std::unordered_map<std::string, std::string_view> spellings;
  for (std::size_t i = 0; i < node.pair_count(); ++i) {
    const yaml::Node& name = node.key(i);
    if (!node.value(i).is_map()) {
      report.Fail(node.value(i), "an override is a map, as in {rate: 5000}");
      continue;
    }
    const auto numbers = quotas.ReadChange(Fields(node.value(i)), "override");
    if (!name.is_text()) {
      continue;  // Reported by yaml::Tree.
    }
    std::optional<std::vector<std::string>> parts;
    if (key.size() == 1) {
      if (!ReadAttributeValue(name, "the key of an override", report)) {
        continue;
      }
      parts.emplace(1, name.text);
    } else {
      parts = core::SplitKeyValues(name.text);
    }
    if (!parts.has_value() || parts->size() != key.size()) {
      report.Fail(name, "overrides: " + name.text + " is not a key of " +
                            std::to_string(key.size()) +
                            " values: join them by ':' and write \\: and \\\\ for ':' and '\\' in "
                            "a value");
      continue;
    }
    std::string text;
    bool good = true;
    for (std::size_t part = 0; part < key.size() && good; ++part) {
      const AttributeKind& kind = attributes.kind(key[part]);
      std::string value = (*parts)[part];
      if (kind.is_ip()) {
        value = CanonicalIp(name, value, kind, report);
        good = !value.empty();
      } else if (kind.form == ValueForm::kHost) {
        std::string room;
        value = std::string(CanonicalHost(value, room));
      }
      if (kind.hash && good) {
        const ValueHash::Text hash = kind.hash->TextOf(attributes.name(key[part]), value);
        value.assign(hash.data(), hash.size());
      }
      if (key.size() == 1) {
        text = std::move(value);
      } else {
        core::AppendKeyValue(text, value, part == 0);
      }
    }
    if (!good) {
      continue;
    }
    if (numbers.has_value()) {
      table.try_emplace(text, *numbers);
    }
    if (!spelled_freely) {
      continue;
    }
    const auto [first, fresh] = spellings.try_emplace(text, name.text);
    if (!fresh && first->second != name.text) {
      report.Fail(name, "overrides: " + name.text + " is the same key as an earlier one (" + text +
                            "): remove one of them");
    }
  }
}

}  // namespace sluice::rules
