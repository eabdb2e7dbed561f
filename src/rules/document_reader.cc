#include "rules/document_reader.h"

#include <array>
#include <string>
#include <utility>

#include "rules/fields.h"
#include "rules/value_reader.h"

namespace sluice::rules {

namespace {

constexpr std::array<std::string_view, 11> kConfigurationSections{
    "rules", "attributes",  "listeners",   "store",         "table", "rule_sources",
    "loops", "idempotency", "connections", "drain_timeout", "log"};
constexpr std::array<std::string_view, 2> kSections{"rules", "attributes"};

}  // namespace

void DocumentReader::ReadAttributes(AttributeTable& attributes) {
  if (root_.is_null()) {
    if (!is_configuration_) {
      report_.Fail(root_, "it is empty: a source without rules says rules: []");
    }
    return;
  }
  if (!root_.is_map()) {
    report_.Fail(root_, "a rule file is a map that begins with rules:");
    return;
  }
  const Fields fields(root_);
  if (is_configuration_) {
    fields.RejectUnknown(kConfigurationSections, "configuration", report_);
  } else {
    fields.RejectUnknown(kSections, "rule file", report_);
  }
  if (const YamlNode* node = fields.Get("attributes"); node != nullptr) {
    if (!node->is_map()) {
      report_.Fail(*node, "attributes must be a map, as in attributes: {peer: {type: ip}}");
      return;
    }
    for (std::size_t i = 0; i < node->pair_count(); ++i) {
      ReadAttribute(node->key(i), node->value(i), attributes);
    }
  }
}

void DocumentReader::ReadAttribute(const YamlNode& name, const YamlNode& value,
                                   AttributeTable& attributes) {
  static constexpr std::array<std::string_view, 3> kFields{"type", "v4_prefix", "v6_prefix"};
  static constexpr std::array<std::string_view, 2> kTypes{"text", "ip"};
  if (!name.is_text()) {
    return;  // Noted by the tree.
  }
  if (!IsAttributeName(name.text)) {
    report_.Fail(name, "\"" + name.text +
                           "\" is no attribute name: it has no blanks, quotes or "
                           "braces");
    return;
  }
  if (!value.is_map()) {
    report_.Fail(value, "an attribute is a map, as in {type: ip, v6_prefix: 56}");
    return;
  }
  const Fields fields(value);
  fields.RejectUnknown(kFields, "declared attribute", report_);
  AttributeKind kind =
      name.text == "ip" ? AttributeKind{core::AttributeType::kIp, {}} : AttributeKind{};
  if (const YamlNode* type = fields.Get("type"); type != nullptr) {
    kind.type =
        static_cast<core::AttributeType>(ReadWord(*type, "type", kTypes, report_).value_or(0));
  }
  for (const auto& [field, target, bits] :
       {std::tuple{"v4_prefix", &kind.grouping.v4_prefix, 32},
        std::tuple{"v6_prefix", &kind.grouping.v6_prefix, 128}}) {
    const YamlNode* node = fields.Get(field);
    if (node == nullptr) {
      continue;
    }
    if (!kind.is_ip()) {
      report_.Fail(fields.KeyOf(field), std::string(field) + " is for type: ip");
      continue;
    }
    const auto length = ReadUnits(*node, field, report_);
    if (length.has_value() && (*length < 1 || *length > bits)) {
      report_.Fail(
          *node, std::string(field) + " is " + node->text + ": write 1 to " + std::to_string(bits));
    } else if (length.has_value()) {
      *target = static_cast<int>(*length);
    }
  }
  if (!attributes.Declare(name.text, kind)) {
    report_.Fail(name, "attribute " + name.text +
                           " is declared otherwise by another source: make them agree");
  }
}

void DocumentReader::ReadRules(AttributeTable& attributes, CalendarShelf& calendars,
                               std::vector<RuleDraft>& drafts) {
  if (!root_.is_map()) {
    return;  // Noted in the first step.
  }
  const Fields fields(root_);
  const YamlNode* rules = fields.Get("rules");
  if (rules == nullptr) {
    if (!is_configuration_) {
      report_.Fail(root_, "rules is missing: a source without rules says rules: []");
    }
    return;
  }
  if (!rules->is_list()) {
    report_.Fail(*rules, rules->is_null() ? "rules is empty: a source without rules says rules: []"
                                          : "rules must be a list: begin each rule with - id:");
    return;
  }
  for (const YamlNode* node : rules->items) {
    if (!node->is_map()) {
      report_.Fail(*node, "a rule is a map that begins with id:");
      continue;
    }
    if (drafts.size() >= kMaxRules) {
      report_.Fail(*node, "more than " + std::to_string(kMaxRules) + " rules");
      return;
    }
    drafts.push_back(ReadRule(*node, attributes, calendars, report_));
  }
}

}  // namespace sluice::rules
