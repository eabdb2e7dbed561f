#include "rules/rule_index.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace sluice::rules {

namespace {

// How many rules of the set have a pattern.
using Popularity = std::map<std::tuple<AttributeId, Pattern::Kind, std::string_view>, std::size_t>;

// The cost of indexing a rule by `condition`: how many other rules are found with it. The constants
// only break ties: a hash before a search, both before a regex.
std::size_t CostOf(const Condition& condition, const Popularity& popularity,
                   std::size_t rule_count) {
  constexpr std::size_t kSearch = 1;
  constexpr std::size_t kAutomaton = 64;
  std::size_t cost = 0;
  for (const Pattern& pattern : condition.any_of) {
    cost += popularity.at({condition.attribute, pattern.kind, pattern.text});
    switch (pattern.kind) {
      case Pattern::Kind::kExact:
        break;
      case Pattern::Kind::kPrefix:
        cost += pattern.text.empty() ? rule_count : kSearch;
        break;
      case Pattern::Kind::kCidr:
        cost += kSearch;
        break;
      case Pattern::Kind::kRegex:
        cost += kAutomaton;
        break;
    }
  }
  return cost;
}

}  // namespace

// The pivot of a rule decides how often it is found in vain. If 1,000 rules have the condition
// method: POST and one endpoint each, then the pivot must be the endpoint: with the method, every
// POST would find all 1,000. So the index first counts how many rules share each pattern, and then
// files each rule under its rarest condition. A condition with several patterns costs the sum of
// them, because the rule is filed under each.
RuleIndex::RuleIndex(std::span<const Rule> rules, std::span<const CompiledRule> compiled,
                     std::size_t attribute_count)
    : attributes_(attribute_count), rule_count_(rules.size()) {
  Popularity popularity;
  for (const CompiledRule& rule : compiled) {
    for (const Condition& condition : rule.match) {
      for (const Pattern& pattern : condition.any_of) {
        ++popularity[{condition.attribute, pattern.kind, pattern.text}];
      }
    }
  }
  std::map<std::pair<std::vector<AttributeId>, bool>, std::size_t> group_of;
  for (std::uint32_t number = 0; number < compiled.size(); ++number) {
    const CompiledRule& rule = compiled[number];
    if (rule.match.empty()) {
      const bool skip = rules[number].on_missing == OnMissing::kSkip;
      const auto [at, fresh] = group_of.try_emplace({rule.key, skip}, groups_.size());
      if (fresh) {
        groups_.push_back({rule.key, skip, {}});
      }
      groups_[at->second].rules.push_back(number);
      continue;
    }
    File(*std::min_element(rule.match.begin(), rule.match.end(),
                           [&](const Condition& a, const Condition& b) {
                             return CostOf(a, popularity, compiled.size()) <
                                    CostOf(b, popularity, compiled.size());
                           }),
         number);
  }
  for (AttributeIndex& attribute : attributes_) {
    attribute.prefixes.Seal();
    attribute.blocks.Seal();
    attribute.regexes.Seal();
  }
}

void RuleIndex::File(const Condition& condition, std::uint32_t rule) {
  AttributeIndex& index = attributes_[condition.attribute];
  for (const Pattern& pattern : condition.any_of) {
    switch (pattern.kind) {
      case Pattern::Kind::kExact:
        index.exact[pattern.text].push_back(rule);
        break;
      case Pattern::Kind::kPrefix:
        index.prefixes.Add(pattern.text, rule);
        break;
      case Pattern::Kind::kRegex:
        index.regexes.Add(pattern, rule);
        break;
      case Pattern::Kind::kCidr:
        index.blocks.Add(pattern.cidr, rule);
        break;
    }
  }
}

// Only attributes of the request are looked up, so the cost depends on the request and not on the
// number of rules. A rule can be found several times, by two of its patterns; `seen_` holds the
// number of the lookup that last found a rule, so it never has to be cleared.
void RuleIndex::Find(const BoundRequest& request, Candidates& found) const {
  if (found.seen_.size() < rule_count_) {
    found.seen_.resize(rule_count_);
  }
  ++found.lookup_;
  found.rules.clear();
  found.keyless.clear();
  const auto add = [&](std::uint32_t rule) {
    if (found.seen_[rule] != found.lookup_) {
      found.seen_[rule] = found.lookup_;
      found.rules.push_back(rule);
    }
  };
  for (const AttributeId id : request.present()) {
    const AttributeIndex& index = attributes_[id];
    const BoundAttribute& value = *request.Get(id);
    if (!index.exact.empty()) {
      if (const auto rules = index.exact.find(value.text()); rules != index.exact.end()) {
        std::for_each(rules->second.begin(), rules->second.end(), add);
      }
    }
    if (!index.prefixes.empty()) {
      index.prefixes.Find(value.text(), add);
    }
    if (!index.blocks.empty()) {
      if (const auto& address = value.address(); address.has_value()) {
        index.blocks.Find({*address, address->bits()}, add);
      }
    }
    index.regexes.Find(value.text(), found.regexes_, add);
  }
  for (const KeyGroup& group : groups_) {
    const bool lacks =
        group.skip && std::any_of(group.key.begin(), group.key.end(),
                                  [&](AttributeId id) { return request.Get(id) == nullptr; });
    auto& list = lacks ? found.keyless : found.rules;
    list.insert(list.end(), group.rules.begin(), group.rules.end());
  }
  std::sort(found.rules.begin(), found.rules.end());
}

}  // namespace sluice::rules
