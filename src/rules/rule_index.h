#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rules/attribute_table.h"
#include "rules/compiled_rule.h"
#include "rules/nested_blocks.h"
#include "rules/regex_index.h"
#include "rules/rule.h"

namespace sluice::rules {

// What a look-up in the index found, and its reused room.
struct Candidates {
  std::vector<std::uint32_t> rules;  // May apply: the rest of their conditions is to be asked.
  std::vector<std::uint32_t>
      keyless;  // Have no match, and lack a key attribute that they skip for.

 private:
  friend class RuleIndex;
  std::vector<std::uint64_t> seen_;  // By rule: the look-up that last found it.
  std::uint64_t lookup_ = 0;
  std::vector<int> regexes_;
};

// Finds the rules that may apply to a request without going through all.
//
// Each rule with a match is filed under one of its conditions, the pivot: the one whose values
// the fewest other rules share. Exact values are hashed, prefixes and blocks of addresses are
// sorted, expressions are one automaton per attribute. Rules without match are grouped by what
// their keys need.
class RuleIndex {
 public:
  RuleIndex() = default;  // Of no rules.
  RuleIndex(std::span<const Rule> rules, std::span<const CompiledRule> compiled,
            std::size_t attribute_count);

  // Each rule once, in declaration order. Allocates only where `found` has to grow.
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

}  // namespace sluice::rules
