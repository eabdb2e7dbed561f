#include "rules/rule_set.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "rules/rule.h"
#include "rules/rule_index.h"
#include "rules/rule_reader.h"
#include "rules/spelling.h"
#include "yaml/tree.h"

namespace sluice::rules {

RuleSet::RuleSet(std::unique_ptr<Index> index) : index_(std::move(index)) {}
RuleSet::~RuleSet() = default;

std::span<const Rule> RuleSet::rules() const {
  return index_->rules;
}

const Rule* RuleSet::Find(std::string_view id) const {
  const auto found = index_->by_id.find(id);
  return found == index_->by_id.end() ? nullptr : &index_->rules[found->second];
}

std::vector<RuleSet::Compared> RuleSet::TextsFor(const Rule& rule,
                                                 std::string_view attribute) const {
  const CompiledRule& compiled = index_->compiled[rule.number];
  std::vector<Compared> texts;
  const auto add = [&](const Conditions& conditions) {
    for (const Condition& condition : conditions) {
      if (index_->attributes.name(condition.attribute) != attribute) {
        continue;
      }
      for (const Pattern& pattern : condition.any_of) {
        if (pattern.kind == Pattern::Kind::kExact || pattern.kind == Pattern::Kind::kPrefix) {
          texts.push_back({pattern.text, pattern.kind == Pattern::Kind::kPrefix});
        }
      }
    }
  };
  add(compiled.match);
  for (const Plan& plan : compiled.plans) {
    add(plan.match);
  }
  return texts;
}

RuleSet::Needs RuleSet::NeedsOf(const Rule& rule) const {
  const CompiledRule& compiled = index_->compiled[rule.number];
  Needs needs;
  for (const Condition& condition : compiled.match) {
    needs.match.push_back(index_->attributes.name(condition.attribute));
  }
  for (const KeyAttribute& attribute : rule.key) {
    needs.key.push_back(attribute.name);
  }
  if (compiled.cost.kind == CostRule::Kind::kAttribute) {
    needs.cost.push_back(index_->attributes.name(compiled.cost.attribute));
  }
  return needs;
}

RuleSet::Details RuleSet::DetailsOf(const Rule& rule) const {
  const CompiledRule& compiled = index_->compiled[rule.number];
  Details details{.quotas = {rule.quota}, .replaces = compiled.replaces};
  std::set<std::tuple<bool, Units, Units>> seen{
      {rule.quota.unlimited, rule.quota.limit, rule.quota.rate}};
  const auto add = [&](const Numbers& numbers) {
    if (seen.emplace(numbers.unlimited, numbers.limit, numbers.rate).second) {
      numbers.ApplyTo(details.quotas.emplace_back(rule.quota));
    }
  };
  for (const Plan& plan : compiled.plans) {
    add(plan.numbers);
  }
  for (const auto& [key, numbers] : compiled.overrides) {
    add(numbers);
  }
  if (compiled.cost.kind == CostRule::Kind::kFixed) {
    details.fixed_cost = compiled.cost.units;
  }
  for (const Condition& condition : compiled.match) {
    if (std::ranges::all_of(condition.any_of, [](const Pattern& pattern) {
          return pattern.kind == Pattern::Kind::kExact;
        })) {
      details.enumerated.push_back(index_->attributes.name(condition.attribute));
    }
  }
  return details;
}

bool RuleSet::Covers(const Rule& wide, const Rule& narrow) const {
  return rules::Covers(index_->compiled[wide.number].match, index_->compiled[narrow.number].match);
}

std::string_view RuleSet::ShownValue(const Attribute& attribute, ValueHash::Text& room) const {
  const AttributeKind* const kind = index_->attributes.DeclaredKindOf(attribute.name);
  if (kind == nullptr || !kind->hash) {
    return attribute.value;
  }
  BoundAttribute bound;
  bound.Bind(attribute.value, attribute.name, *kind, Secrets::kAreValues);
  return {room.data(), bound.key_text().copy(room.data(), room.size())};
}

std::vector<std::string> RuleSet::AttributeNames() const {
  std::vector<std::string> names;
  names.reserve(index_->attributes.size());
  for (AttributeId id = 0; id < index_->attributes.size(); ++id) {
    names.push_back(index_->attributes.name(id));
  }
  return names;
}

}  // namespace sluice::rules
