#pragma once

#include <string>
#include <vector>

#include "rules/attribute_table.h"
#include "rules/compiled_rule.h"
#include "rules/quota_reader.h"
#include "rules/rule_index.h"
#include "rules/rule_set.h"

namespace sluice::rules {

// The inside of a RuleSet: only its own sources include this.
struct RuleSet::Index {
  AttributeTable attributes;
  QuotaShelf calendars;
  std::vector<Rule> rules;  // By number.
  std::vector<CompiledRule> compiled;
  TextMap<std::uint32_t> by_id;
  RuleIndex lookup;
  std::vector<AttributeId> addresses;               // The attributes of type ip.
  std::vector<std::vector<std::uint32_t>> readers;  // By AttributeId: whose match or key reads it.
};

// The cost of `call` under a rule for `request`; an error of the request where the attribute
// that the rule names is absent or no number.
[[nodiscard]] Result<Cost> CostUnder(const CostRule& rule, const AttributeTable& attributes,
                                     const BoundRequest& request, Cost call,
                                     AbsentCost absent = AbsentCost::kIsAnError);

// Which numbers a rule gives a request: its override, else its first plan that matches, else
// its own. `scratch` is reused room. Requires every key attribute to be present.
struct ChosenNumbers {
  const Numbers* numbers = nullptr;  // nullptr: the rule's own.
  const Plan* plan = nullptr;        // Set where a plan gave them.
};
[[nodiscard]] ChosenNumbers ChooseNumbers(const CompiledRule& rule, const BoundRequest& request,
                                          std::string& scratch);

// The quota in force, with the request's priority where the rule has reserves.
[[nodiscard]] core::Quota QuotaUnder(const Rule& rule, const CompiledRule& compiled,
                                     const ChosenNumbers& chosen, const BoundRequest& request);

}  // namespace sluice::rules
