#include "first_request.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace sluice::app {

namespace {

using Named = std::vector<std::pair<std::string, std::string>>;

std::string MadeUp(std::string_view attribute) {
  constexpr std::pair<std::string_view, std::string_view> kValues[] = {{"user_id", "u_42"},
                                                                       {"ip", "192.0.2.7"},
                                                                       {"endpoint", "/v1/charges"},
                                                                       {"method", "GET"},
                                                                       {"host", "api.example.com"}};
  const auto* const found =
      std::ranges::find(kValues, attribute, [](const auto& value) { return value.first; });
  return found == std::end(kValues) ? "x" : std::string(found->second);
}

Named RequestFor(const rules::Rule& rule, const rules::RuleSet& rules) {
  const rules::RuleSet::Needs needs = rules.NeedsOf(rule);
  Named request;
  const auto add = [&](const std::string& attribute, std::string value) {
    if (std::ranges::find(request, attribute, &Named::value_type::first) == request.end()) {
      request.emplace_back(attribute, std::move(value));
    }
  };
  for (const std::string& attribute : needs.match) {
    const auto texts = rules.TextsFor(rule, attribute);
    add(attribute, texts.empty() ? MadeUp(attribute) : texts.front().text);
  }
  for (const std::string& attribute : needs.key) {
    add(attribute, MadeUp(attribute));
  }
  for (const std::string& attribute : needs.cost) {
    add(attribute, "1");
  }
  return request;
}

bool Limits(const rules::Rule& rule, const Named& request, const rules::RuleSet& rules) {
  std::vector<Attribute> attributes;
  attributes.reserve(request.size());
  for (const auto& [name, value] : request) {
    attributes.push_back({.name = name, .value = value});
  }
  rules::Matches matches;
  return rules.Match(attributes, Cost{.units = 1}, {}, matches).has_value() &&
         std::ranges::any_of(matches.applied(), [&rule](const rules::AppliedRule& applied) {
           return applied.rule == &rule && !applied.key_missing;
         });
}

}  // namespace

Named FirstRequest(const rules::RuleSet& rules) {
  for (const rules::Rule& rule : rules.rules()) {
    Named request = RequestFor(rule, rules);
    if (rule.action == rules::Action::kLimit && !request.empty() && Limits(rule, request, rules)) {
      return request;
    }
  }
  return {{"user_id", "u_42"}};
}

}  // namespace sluice::app
