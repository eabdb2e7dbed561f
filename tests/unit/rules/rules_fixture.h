#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/rule_set.h"

namespace sluice::rules {

// A rule text built, with what was found in it.
struct Built {
  std::shared_ptr<const RuleSet> set;
  Findings findings;

  [[nodiscard]] std::vector<std::string> errors() const { return Texts(findings.errors); }
  [[nodiscard]] std::vector<std::string> warnings() const { return Texts(findings.warnings); }

 private:
  static std::vector<std::string> Texts(const std::vector<Error>& list) {
    std::vector<std::string> texts;
    for (const Error& error : list) {
      texts.push_back(error.Text());
    }
    return texts;
  }
};

inline Built BuildAll(std::vector<SourceText> sources, const RuleSet* running = nullptr) {
  Built built;
  built.set = RuleSet::Build(sources, running, built.findings);
  return built;
}

inline Built BuildText(std::string text, const RuleSet* running = nullptr) {
  return BuildAll({{"r.yaml", std::move(text), false}}, running);
}

// One rule with id r and key {user_id} and the given further lines, each "field: value"; line
// n of `lines` stands in line 4 + n, column 5.
inline std::string OneRule(const std::vector<std::string>& lines) {
  std::string text = "rules:\n  - id: r\n    key_pattern: \"user:{user_id}\"\n";
  for (const std::string& line : lines) {
    text += "    " + line + "\n";
  }
  return text;
}

inline Built BuildRule(const std::vector<std::string>& lines, const RuleSet* running = nullptr) {
  return BuildText(OneRule(lines), running);
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

// A request's attributes with their bytes.
class Request {
 public:
  explicit Request(Pairs pairs) : pairs_(std::move(pairs)) {
    for (const auto& [name, value] : pairs_) {
      attributes_.push_back({name, value});
    }
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  [[nodiscard]] Attributes get() const { return attributes_; }

 private:
  Pairs pairs_;
  std::vector<Attribute> attributes_;
};

// A match done, with the bytes that it views.
struct Matched {
  std::unique_ptr<Request> request;
  Matches matches;
  std::string error;

  [[nodiscard]] std::vector<std::string> ids() const {
    std::vector<std::string> ids;
    for (const AppliedRule& applied : matches.applied()) {
      ids.push_back(applied.rule->id);
    }
    return ids;
  }
  [[nodiscard]] const AppliedRule& only() const { return matches.applied().front(); }
  // "user_id=u_42|ip!=192.0.2.1": names, values, and ! for addresses.
  [[nodiscard]] std::string key() const {
    std::string text;
    for (const core::KeyPart& part : only().parts) {
      text += (text.empty() ? "" : "|") + std::string(part.attribute) +
              (part.type == core::AttributeType::kIp ? "!=" : "=") + std::string(part.value);
    }
    return text;
  }
};

inline Matched MatchOn(const RuleSet& set, Pairs pairs, Cost cost = {},
                       const ModeOverrides& modes = {}) {
  Matched matched{std::make_unique<Request>(std::move(pairs)), Matches(), ""};
  if (const auto result = set.Match(matched.request->get(), cost, modes, matched.matches);
      !result.has_value()) {
    matched.error = result.error().message;
  }
  return matched;
}

}  // namespace sluice::rules
