#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "rules/attribute_table.h"
#include "rules/compiled_rule.h"
#include "rules/findings.h"
#include "rules/quota_reader.h"
#include "rules/rule.h"
#include "rules/yaml_tree.h"

namespace sluice::rules {

inline constexpr std::size_t kMaxPlans = 1'000;
inline constexpr std::size_t kMaxOverrides = 1'000'000;

// A rule as read from its text, before it knows the other rules of the set.
struct RuleDraft {
  Rule rule;
  CompiledRule compiled;
  std::vector<std::pair<std::string, Place>> replaces;
  std::vector<Place> formerly_places;  // Of each id in rule.formerly.
};

// Reads one rule and notes every problem in it. What is wrong is left out of the draft, whose
// id is "" where there is none that could be used.
[[nodiscard]] RuleDraft ReadRule(const YamlNode& node, AttributeTable& attributes,
                                 QuotaShelf& calendars, Reporter& report);

}  // namespace sluice::rules
