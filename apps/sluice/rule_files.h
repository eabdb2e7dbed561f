#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rules/findings.h"
#include "rules/rule_set.h"

namespace sluice::app {

// Reads rule files as one set, as a daemon does that loads them together. A daemon's
// configuration among them is checked too, and the rules that stand in it belong to the set.
// nullptr if `findings` got an error.
[[nodiscard]] std::shared_ptr<const rules::RuleSet> ReadRuleFiles(
    const std::vector<std::string>& files, rules::Findings& findings);

}  // namespace sluice::app
