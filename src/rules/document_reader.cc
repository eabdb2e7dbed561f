#include <array>
#include <string>
#include <utility>

#include "rules/fields.h"
#include "rules/rule_reader.h"
#include "rules/value_reader.h"

namespace sluice::rules {

namespace {

constexpr std::array<std::string_view, 2> kSections{"rules", "attributes"};

}  // namespace

void DocumentReader::ReadAttributes(AttributeTable& attributes) {
  if (root_.is_null()) {
    if (!is_configuration_) {
      report_.Fail(root_, "the file is empty: for no rules write `rules: []`");
    }
    return;
  }
  if (!root_.is_map()) {
    report_.Fail(root_, "a rule file is a map that begins with rules:");
    return;
  }
  const Fields fields(root_);
  if (!is_configuration_) {
    fields.RejectUnknown(kSections, "rule file", report_);
  }
  if (const yaml::Node* node = fields.Get("attributes"); node != nullptr) {
    if (!node->is_map()) {
      report_.Fail(*node, "attributes must be a map, as in attributes: {peer: {type: ip}}");
      return;
    }
    for (std::size_t i = 0; i < node->pair_count(); ++i) {
      ReadAttribute(node->key(i), node->value(i), attributes);
    }
  }
}

void DocumentReader::ReadAttribute(const yaml::Node& name, const yaml::Node& value,
                                   AttributeTable& attributes) {
  static constexpr std::array<std::string_view, 5> kFields{"type", "v4_prefix", "v6_prefix",
                                                           "nat64", "hash"};
  static constexpr std::array<std::string_view, 3> kTypes{"text", "ip", "host"};
  if (!name.is_text()) {
    return;  // Reported by yaml::Tree.
  }
  if (!IsAttributeName(name.text)) {
    report_.Fail(name, "\"" + name.text +
                           "\" is not an attribute name: a name has no spaces, quotes or "
                           "braces");
    return;
  }
  if (!value.is_map()) {
    report_.Fail(value, "an attribute is a map, as in {type: ip, v6_prefix: 56}");
    return;
  }
  const Fields fields(value);
  fields.RejectUnknown(kFields, "declared attribute", report_);
  AttributeKind kind = AttributeKind::Of(name.text);
  if (const yaml::Node* type = fields.Get("type"); type != nullptr) {
    kind.form = static_cast<ValueForm>(ReadWord(*type, "type", kTypes, report_).value_or(0));
  }
  for (const auto& [field, target, bits] :
       {std::tuple{"v4_prefix", &kind.grouping.v4_prefix, 32},
        std::tuple{"v6_prefix", &kind.grouping.v6_prefix, 128}}) {
    const yaml::Node* node = fields.Get(field);
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
  if (const yaml::Node* node = fields.Get("nat64"); node != nullptr) {
    if (kind.is_ip()) {
      ReadNat64(*node, kind);
    } else {
      report_.Fail(fields.KeyOf("nat64"), "nat64 is for type: ip");
    }
  }
  if (const yaml::Node* node = fields.Get("hash"); node != nullptr) {
    ReadHash(*node, kind);
  }
  if (!attributes.Declare(name.text, kind)) {
    report_.Fail(name, "attribute " + name.text +
                           " is declared differently by another source: make them agree");
  }
}

void DocumentReader::ReadNat64(const yaml::Node& list, AttributeKind& kind) {
  if (!list.is_list()) {
    report_.Fail(list, "nat64 must be a list of prefixes, as in [64:ff9b::/96]");
    return;
  }
  for (const yaml::Node* item : list.items) {
    const auto prefix = item->is_text() ? IpPrefix::Parse(item->text) : std::nullopt;
    if (!prefix || !prefix->IsTranslationPrefix()) {
      report_.Fail(*item, "nat64: " + (item->is_text() ? item->text : "this") +
                              " is not a NAT64 prefix: write an IPv6 block of 32, 40, 48, "
                              "56, 64 or 96 bits, as in 64:ff9b::/96");
    } else {
      kind.nat64.push_back(*prefix);
    }
  }
}

void DocumentReader::ReadHash(const yaml::Node& node, AttributeKind& kind) {
  static constexpr std::array<std::string_view, 1> kFields{"secret"};
  if (!node.is_map()) {
    if (ReadBool(node, "hash", report_).value_or(false)) {
      kind.hash.emplace();
    }
    return;
  }
  const Fields fields(node);
  fields.RejectUnknown(kFields, "hash", report_);
  const yaml::Node* secret = fields.Get("secret");
  const auto text = secret != nullptr ? ReadText(*secret, "secret", report_) : std::nullopt;
  if (secret == nullptr) {
    report_.Fail(node, "hash has no secret: write hash: {secret: ...}, or hash: true");
  } else if (text && text->size() < ValueHash::kLeastSecretBytes) {
    report_.Fail(*secret, "the secret is shorter than " +
                              std::to_string(ValueHash::kLeastSecretBytes) +
                              " bytes: create one with openssl rand -hex 32");
  } else if (text) {
    kind.hash.emplace(*text);
  }
}

void DocumentReader::ReadRules(AttributeTable& attributes, QuotaShelf& calendars,
                               std::vector<RuleDraft>& drafts) {
  if (!root_.is_map()) {
    return;  // Reported in the first step.
  }
  const Fields fields(root_);
  const yaml::Node* rules = fields.Get("rules");
  if (rules == nullptr) {
    if (!is_configuration_) {
      report_.Fail(root_, "rules is missing: for no rules write `rules: []`");
    }
    return;
  }
  if (!rules->is_list()) {
    report_.Fail(*rules, rules->is_null() ? "rules is empty: for no rules write `rules: []`"
                                          : "rules must be a list: begin each rule with - id:");
    return;
  }
  for (const yaml::Node* node : rules->items) {
    if (!node->is_map()) {
      report_.Fail(*node,
                   node->is_text() && is_configuration_
                       ? "rules holds rules, not file names: write rule_sources: [{files: [" +
                             node->text + "]}]"
                   : node->is_text()
                       ? "a rule is a map that begins with id: (in a daemon's configuration, names "
                         "of rule files belong in rule_sources: [{files: [" +
                             node->text + "]}])"
                       : "a rule is a map that begins with id:");
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
