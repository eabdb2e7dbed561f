#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "rules/attribute_value.h"
#include "rules/fields.h"
#include "rules/regex_index.h"
#include "rules/rule_reader.h"
#include "rules/value_reader.h"

namespace sluice::rules {

namespace {

// Bounds the memory to compile and run one expression (RE2's default is 8 MiB).
constexpr std::int64_t kRegexBytes = std::int64_t{8} << 20;

char LowerCase(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

class MatchReader {
 public:
  MatchReader(AttributeTable& attributes, Reporter& report)
      : attributes_(attributes), report_(report) {}

  Conditions Read(const yaml::Node& node) {
    Conditions conditions;
    if (!node.is_map()) {
      report_.Fail(node, "match must be a map, as in match: {endpoint: /login}");
      return conditions;
    }
    for (std::size_t i = 0; i < node.pair_count(); ++i) {
      const yaml::Node& key = node.key(i);
      if (!key.is_text()) {
        continue;  // Reported by yaml::Tree.
      }
      if (!IsAttributeName(key.text)) {
        report_.Fail(key, "match names the attribute \"" + key.text +
                              "\": a name has no spaces, quotes or braces");
        continue;
      }
      Condition condition;
      condition.attribute = attributes_.Intern(key.text);
      kind_ = &attributes_.kind(condition.attribute);
      field_ = "match " + key.text;
      ReadValue(node.value(i), /*in_list=*/false, condition.any_of);
      if (!condition.any_of.empty()) {
        conditions.push_back(std::move(condition));
      }
    }
    return conditions;
  }

 private:
  void ReadValue(const yaml::Node& node, bool in_list, std::vector<Pattern>& patterns) {
    switch (node.kind) {
      case yaml::Node::Kind::kText:
        ReadText(node, patterns);
        return;
      case yaml::Node::Kind::kMap:
        ReadOperator(node, patterns);
        return;
      case yaml::Node::Kind::kList:
        if (!in_list) {
          ReadList(node, patterns);
          return;
        }
        break;
      case yaml::Node::Kind::kNull:
        report_.Fail(node,
                     field_ + " is empty: write \"\" for the empty text, \"null\" for the word");
        return;
    }
    report_.Fail(node, field_ + " is a list in a list: write one list of values");
  }

  void ReadList(const yaml::Node& node, std::vector<Pattern>& patterns) {
    if (node.items.empty()) {
      report_.Fail(node, field_ + " is an empty list: no value could match");
    } else if (node.items.size() > kMaxPatternsPerCondition) {
      report_.Fail(
          node, field_ + " has more than " + std::to_string(kMaxPatternsPerCondition) + " values");
    } else {
      for (const yaml::Node* item : node.items) {
        ReadValue(*item, /*in_list=*/true, patterns);
      }
    }
  }

  void ReadText(const yaml::Node& node, std::vector<Pattern>& patterns) {
    if (!ReadAttributeValue(node, field_, report_)) {
      return;
    }
    Pattern pattern;
    const std::size_t star = node.text.find('*');
    if (star != std::string::npos && star + 1 != node.text.size()) {
      report_.Warn(node,
                   field_ + ": the star in " + node.text +
                       " is an ordinary character, because only a star at the end is a wildcard. "
                       "For another pattern, or for the character itself, write {regex: ...}");
    }
    if (node.text.ends_with('*')) {
      pattern.kind = Pattern::Kind::kPrefix;
      pattern.text = node.text.substr(0, node.text.size() - 1);
      if (kind_->form == ValueForm::kHost) {
        // The part of a name before the star has no port and may end in a dot.
        std::ranges::transform(pattern.text, pattern.text.begin(), LowerCase);
      }
    } else if (kind_->is_ip()) {
      auto address = IpAddress::Parse(node.text);
      if (!address.has_value()) {
        report_.Fail(node,
                     field_ + " is of type ip, and " + node.text + " is not an address" +
                         (IpPrefix::Parse(node.text) ? ": write {cidr: " + node.text + "}" : ""));
        return;
      }
      address = address->Embedded(kind_->nat64);
      pattern.kind = Pattern::Kind::kCidr;
      pattern.cidr = {*address, address->bits()};
      pattern.text = pattern.cidr.Text().view();
    } else if (kind_->form == ValueForm::kHost) {
      std::string room;
      pattern.text = CanonicalHost(node.text, room);
    } else {
      pattern.text = node.text;
    }
    patterns.push_back(std::move(pattern));
  }

  void ReadOperator(const yaml::Node& node, std::vector<Pattern>& patterns) {
    static constexpr std::array<std::string_view, 2> kOperators{"regex", "cidr"};
    const Fields fields(node);
    fields.RejectUnknown(kOperators, "condition", report_);
    const yaml::Node* regex = fields.Get("regex");
    const yaml::Node* cidr = fields.Get("cidr");
    if ((regex == nullptr) == (cidr == nullptr)) {
      if (regex != nullptr || node.items.empty()) {
        report_.Fail(node, field_ + ": write either {regex: ...} or {cidr: ...}");
      }
      return;
    }
    if (regex != nullptr) {
      ReadRegex(*regex, patterns);
    } else if (!cidr->is_list()) {
      ReadCidr(*cidr, patterns);
    } else if (cidr->items.empty()) {
      report_.Fail(*cidr, field_ + " has an empty list of blocks: no address could match");
    } else if (cidr->items.size() > kMaxPatternsPerCondition) {
      report_.Fail(
          *cidr, field_ + " has more than " + std::to_string(kMaxPatternsPerCondition) + " blocks");
    } else {
      for (const yaml::Node* item : cidr->items) {
        ReadCidr(*item, patterns);
      }
    }
  }

  void ReadRegex(const yaml::Node& node, std::vector<Pattern>& patterns) {
    if (!node.is_text()) {
      report_.Fail(node, field_ + ": regex must be a text");
      return;
    }
    auto regex = std::make_shared<const re2::RE2>(node.text, RegexOptions(kRegexBytes));
    if (!regex->ok()) {
      report_.Fail(node, field_ + ": the regex does not compile: " + regex->error());
      return;
    }
    patterns.push_back({Pattern::Kind::kRegex, node.text, {}, std::move(regex)});
  }

  void ReadCidr(const yaml::Node& node, std::vector<Pattern>& patterns) {
    const auto block = node.is_text() ? IpPrefix::Parse(node.text) : std::nullopt;
    if (!block.has_value()) {
      report_.Fail(node, field_ + ": cidr " + (node.is_text() ? node.text + " " : "") +
                             "is not an address block such as 10.0.0.0/8 or 2001:db8::/32");
      return;
    }
    if (block->HasHostBits()) {
      const IpPrefix meant{block->network.Masked(block->length), block->length};
      report_.Fail(node, field_ + ": cidr " + node.text + " has host bits set, did you mean " +
                             std::string(meant.Text().view()) + "?");
      return;
    }
    patterns.push_back({Pattern::Kind::kCidr, std::string(block->Text().view()), *block, nullptr});
  }

  AttributeTable& attributes_;
  Reporter& report_;
  const AttributeKind* kind_ = nullptr;
  std::string field_;
};

}  // namespace

Conditions ReadMatch(const yaml::Node& node, AttributeTable& attributes, Reporter& report) {
  return MatchReader(attributes, report).Read(node);
}

}  // namespace sluice::rules
