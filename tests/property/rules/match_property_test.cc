// The indexed matcher against a plain one that asks every rule, on random rule sets and
// requests. The plain one reads the same random description, not the compiled set, and knows
// nothing of pivots, tries or automata.

#include <algorithm>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "unit/rules/rules_fixture.h"

namespace sluice::rules {
namespace {

// A small alphabet, so that rules and requests meet often.
const std::vector<std::string> kNames{"a", "b", "c", "ip"};
const std::vector<std::string> kValues{"", "x", "xy", "xyz", "xz", "y", "yx", "*"};
const std::vector<std::string> kExpressions{"x.*", "(x|y)+", "x?", ".z", "[^x]*", "xy", "y.?"};
const std::vector<std::string> kAddresses{"10.0.0.1", "10.1.2.3",    "::ffff:10.1.2.3",
                                          "11.0.0.1", "2001:db8::1", "2001:db8:1::1",
                                          "::a01:203"};
// A block, and by position in kAddresses which are in it.
struct Block {
  std::string text;
  std::string holds;
};
const std::vector<Block> kBlocks{{"0.0.0.0/0", "1111000"},     {"10.0.0.0/8", "1110000"},
                                 {"10.1.0.0/16", "0110000"},   {"10.1.2.3/32", "0110000"},
                                 {"2001:db8::/32", "0000110"}, {"2001:db8:1::/48", "0000010"},
                                 {"::/0", "0000111"}};

struct PlainPattern {
  enum Kind : std::uint8_t { kExact, kPrefix, kRegex, kCidr } kind = kExact;
  std::string text;
  std::string holds;

  [[nodiscard]] std::string Yaml() const {
    switch (kind) {
      case kExact:
        return "'" + text + "'";
      case kPrefix:
        return "'" + text + "*'";
      case kRegex:
        return "{regex: '" + text + "'}";
      case kCidr:
        break;
    }
    return "{cidr: '" + text + "'}";
  }
  [[nodiscard]] bool Holds(const std::string& value) const {
    switch (kind) {
      case kExact:
        return value == text;
      case kPrefix:
        return value.substr(0, text.size()) == text;
      case kRegex:
        return std::regex_match(value, std::regex(text));
      case kCidr:
        break;
    }
    const auto at = std::find(kAddresses.begin(), kAddresses.end(), value) - kAddresses.begin();
    return holds[static_cast<std::size_t>(at)] == '1';
  }
};

struct PlainRule {
  std::vector<std::pair<std::string, std::vector<PlainPattern>>> match;
  std::vector<std::string> key;
  int mode = 0;
  bool deny = false;
  std::vector<int> replaces;
};

const char* const kModeWords[] = {"enforce", "shadow", "off"};

PlainPattern AnyPattern(const std::string& name) {
  if (name == "ip") {
    const Block block = *rc::gen::elementOf(kBlocks);
    return {PlainPattern::kCidr, block.text, block.holds};
  }
  const auto kind = *rc::gen::inRange(0, 3);
  if (kind == PlainPattern::kRegex) {
    return {PlainPattern::kRegex, *rc::gen::elementOf(kExpressions), ""};
  }
  std::string text = *rc::gen::elementOf(kValues);
  if (kind == PlainPattern::kExact && text == "*") {
    text = "x";  // Written '*' it would be a prefix.
  }
  return {kind == 0 ? PlainPattern::kExact : PlainPattern::kPrefix, text, ""};
}

std::vector<std::string> SomeNames() {
  std::vector<std::string> names;
  for (const std::string& name : kNames) {
    if (*rc::gen::inRange(0, 3) == 0) {
      names.push_back(name);
    }
  }
  return names;
}

std::vector<PlainRule> AnyRules() {
  std::vector<PlainRule> rules(*rc::gen::inRange<std::size_t>(0, 24));
  for (std::size_t i = 0; i < rules.size(); ++i) {
    PlainRule& rule = rules[i];
    for (const std::string& name : SomeNames()) {
      std::vector<PlainPattern> patterns;
      const int count = *rc::gen::inRange(1, 4);
      for (int n = 0; n < count; ++n) {
        patterns.push_back(AnyPattern(name));
      }
      rule.match.emplace_back(name, std::move(patterns));
    }
    rule.key = SomeNames();
    rule.mode = std::max(0, *rc::gen::inRange(-3, 3));
    rule.deny = *rc::gen::arbitrary<bool>();
    if (*rc::gen::inRange(0, 4) == 0) {
      const int other = *rc::gen::inRange(0, static_cast<int>(rules.size()));
      if (other != static_cast<int>(i)) {
        rule.replaces.push_back(other);
      }
    }
  }
  return rules;
}

std::string Yaml(const std::vector<PlainRule>& rules) {
  std::string text = rules.empty() ? "rules: []\n" : "rules:\n";
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const PlainRule& rule = rules[i];
    text += "  - {id: r" + std::to_string(i) +
            ", algorithm: gcra, limit: unlimited, mode: " + kModeWords[rule.mode] +
            ", on_missing: " + (rule.deny ? "deny" : "skip") + ", key_pattern: 'k";
    for (const std::string& name : rule.key) {
      text += "{" + name + "}";
    }
    text += "', match: {";
    for (const auto& [name, patterns] : rule.match) {
      text += name + ": [";
      for (const PlainPattern& pattern : patterns) {
        text += pattern.Yaml() + ", ";
      }
      text += "], ";
    }
    text += "}, replaces: [";
    for (const int other : rule.replaces) {
      text += "r" + std::to_string(other) + ", ";
    }
    text += "]}\n";
  }
  return text;
}

const std::string* Find(const Pairs& request, const std::string& name) {
  const auto found = std::find_if(request.rbegin(), request.rend(),
                                  [&](const auto& pair) { return pair.first == name; });
  return found == request.rend() ? nullptr : &found->second;
}

struct Answer {
  std::vector<std::string> applied;  // "r1", "r2 shadow", "r3 missing".
  std::vector<std::string> skipped;
};

Answer PlainMatch(const std::vector<PlainRule>& rules, const Pairs& request) {
  Answer answer;
  std::vector<std::pair<std::size_t, bool>> hits;
  std::vector<bool> replaced(rules.size());
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const PlainRule& rule = rules[i];
    const bool holds = std::all_of(rule.match.begin(), rule.match.end(), [&](const auto& one) {
      const std::string* value = Find(request, one.first);
      return value != nullptr &&
             std::any_of(one.second.begin(), one.second.end(),
                         [&](const PlainPattern& pattern) { return pattern.Holds(*value); });
    });
    const bool missing = std::any_of(rule.key.begin(), rule.key.end(), [&](const auto& name) {
      return Find(request, name) == nullptr;
    });
    if (rule.mode == 2 || !holds) {
      continue;
    }
    if (missing && !rule.deny) {
      answer.skipped.push_back("r" + std::to_string(i));
      continue;
    }
    hits.emplace_back(i, missing);
    for (const int other : rule.mode == 0 ? rule.replaces : std::vector<int>{}) {
      replaced[static_cast<std::size_t>(other)] = true;
    }
  }
  for (const auto& [i, missing] : hits) {
    if (!replaced[i]) {
      answer.applied.push_back("r" + std::to_string(i) + (rules[i].mode == 1 ? " shadow" : "") +
                               (missing ? " missing" : ""));
    }
  }
  return answer;
}

TEST(MatchProperty, TheIndexFindsWhatAskingEveryRuleFinds) {
  const bool held = rc::check("indexed == plain", [] {
    const std::vector<PlainRule> rules = AnyRules();
    const std::string text = Yaml(rules);
    const Built built = BuildText(text);
    RC_LOG() << text;
    RC_ASSERT(built.set != nullptr);
    Matches matches;
    for (int round = 0; round < 8; ++round) {
      Pairs pairs;
      for (const std::string& name : kNames) {
        const int times = *rc::gen::inRange(0, 3);
        for (int n = 0; n < times; ++n) {
          pairs.emplace_back(name, *rc::gen::elementOf(name == "ip" ? kAddresses : kValues));
        }
      }
      const Request request(pairs);
      RC_ASSERT(built.set->Match(request.get(), {}, {}, matches).has_value());
      Answer answer;
      for (const AppliedRule& applied : matches.applied()) {
        answer.applied.push_back(applied.rule->id + (applied.shadow ? " shadow" : "") +
                                 (applied.key_missing ? " missing" : ""));
      }
      for (const SkippedRule& skipped : matches.skipped()) {
        answer.skipped.push_back(skipped.rule->id);
      }
      Answer plain = PlainMatch(rules, pairs);
      std::sort(answer.skipped.begin(), answer.skipped.end());
      std::sort(plain.skipped.begin(), plain.skipped.end());
      RC_ASSERT(answer.applied == plain.applied);
      RC_ASSERT(answer.skipped == plain.skipped);
    }
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace sluice::rules
