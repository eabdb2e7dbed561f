#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon_config.h"
#include "rules/findings.h"
#include "rules/rule_set.h"

namespace sluice::app {

// Reads rule files as one set, as a daemon does that loads them together. A daemon's
// configuration among them is checked too, and the rules that stand in it belong to the set.
// nullptr if `findings` got an error. The listeners of a configuration are added to `listeners`.
[[nodiscard]] std::shared_ptr<const rules::RuleSet> ReadRuleFiles(
    const std::vector<std::string>& files, rules::Findings& findings,
    std::vector<ListenerConfig>* listeners = nullptr);

}  // namespace sluice::app
