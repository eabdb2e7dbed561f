#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rules/attribute_table.h"
#include "rules/compiled_rule.h"
#include "rules/nested_blocks.h"
#include "rules/quota_reader.h"
#include "rules/regex_index.h"
#include "rules/rule.h"
#include "rules/rule_set.h"

namespace sluice::rules {

// The result of a lookup in the index, and its reused memory.
struct Candidates {
  std::vector<std::uint32_t> rules;  // May apply: the rest of their conditions must be checked.
  std::vector<std::uint32_t>
      keyless;  // Have no match, and are skipped because a key attribute is missing.

 private:
  friend class RuleIndex;
  std::vector<std::uint64_t> seen_;  // By rule: the lookup that last found it.
  std::uint64_t lookup_ = 0;
  std::vector<int> regexes_;
};

// Finds the rules that may apply to a request without checking all of them.
//
// Each rule with a match is indexed by one of its conditions, the pivot: the one that it shares
// with the fewest other rules. Exact values are hashed, prefixes and blocks of addresses are
// sorted, and expressions form one automaton per attribute. Rules without a match are grouped by
// the attributes of their keys.
class RuleIndex {
 public:
  RuleIndex() = default;  // Of no rules.
  RuleIndex(std::span<const Rule> rules, std::span<const CompiledRule> compiled,
            std::size_t attribute_count);

  // Each rule once, in declaration order. Allocates only if `found` has to grow.
  void Find(const BoundRequest& request, Candidates& found) const;

 private:
  struct AttributeIndex {
    TextMap<std::vector<std::uint32_t>> exact;
    PrefixBlocks prefixes;
    AddressBlocks blocks;
    RegexIndex regexes;
  };
  struct KeyGroup {
    std::vector<AttributeId> key;
    bool skip = false;  // on_missing: skip
    std::vector<std::uint32_t> rules;
  };

  void File(const Condition& condition, std::uint32_t rule);

  std::vector<AttributeIndex> attributes_;  // By AttributeId.
  std::vector<KeyGroup> groups_;
  std::size_t rule_count_ = 0;
};

// The private part of a RuleSet. Only its own sources include this.
struct RuleSet::Index {
  AttributeTable attributes;
  QuotaShelf calendars;
  std::vector<Rule> rules;  // By number.
  std::vector<CompiledRule> compiled;
  TextMap<std::uint32_t> by_id;
  RuleIndex lookup;
  std::vector<AttributeId> addresses;  // The attributes of type ip.
  std::vector<std::vector<std::uint32_t>>
      readers;  // By AttributeId: the rules that read it in their match or key.
};

// The cost of `call` under a rule for `request`. Error: the attribute that the rule names is absent
// or not a number.
[[nodiscard]] Result<Cost> CostUnder(const CostRule& rule, const AttributeTable& attributes,
                                     const BoundRequest& request, Cost call,
                                     AbsentCost absent = AbsentCost::kIsAnError);

// The numbers that apply to a request: the override, otherwise the first plan that matches,
// otherwise the rule's own. `scratch` is reused memory. Requires all key attributes.
struct ChosenNumbers {
  const Numbers* numbers = nullptr;  // nullptr: the rule's own.
  const Plan* plan = nullptr;        // Set if they are from a plan.
};
[[nodiscard]] ChosenNumbers ChooseNumbers(const CompiledRule& rule, const BoundRequest& request,
                                          std::string& scratch);

// The quota that applies, with the request's priority if the rule has reserves.
[[nodiscard]] core::Quota QuotaUnder(const Rule& rule, const CompiledRule& compiled,
                                     const ChosenNumbers& chosen, const BoundRequest& request);

// Why every key of `next` starts with its full quota although `before` has the same id (or a former
// id of `next`): "its window was 1m and is 1h". nullopt if the keys keep what they have used.
// `kinds_differ`: an attribute of the key is declared otherwise than before (type, prefix, hash).
[[nodiscard]] std::optional<std::string> FreshStart(const Rule& before, const Rule& next,
                                                    bool kinds_differ);

}  // namespace sluice::rules
