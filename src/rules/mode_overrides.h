#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "rules/rule.h"

namespace sluice::rules {

// Modes set by an operator at run time. They live beside the rule set, not in it: a reload
// of the rules leaves them standing, and a mode changes without building a new set.
// A plain value; whoever publishes it swaps a whole new one.
struct ModeOverrides {
  std::optional<Mode> all;  // The global switch: wins over everything.
  std::unordered_map<std::string, Mode> by_rule;

  [[nodiscard]] Mode Effective(const Rule& rule) const;
};

}  // namespace sluice::rules
