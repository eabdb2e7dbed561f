#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/running_rules.h"
#include "daemon_config.h"
#include "rules/findings.h"
#include "rules/rule_set.h"

namespace sluice::app {

// The parts of configurations besides rules.
struct BesidesRules {
  std::vector<ListenerConfig> listeners;
  std::optional<EnvoyConfig> envoy;
};

// Reads rule files as one set, like a daemon that loads them together. A daemon's configuration
// among them is checked too, and its rules belong to the set. nullptr if `findings` got an error.
// Other parts of a configuration are added to `besides`.
[[nodiscard]] std::shared_ptr<const rules::RuleSet> ReadRuleFiles(
    const std::vector<std::string>& files, rules::Findings& findings,
    BesidesRules* besides = nullptr);

// Where a daemon of this configuration, which outlives the result, has its rules from. Errors: a
// file that etcd's `tls` names does not load.
[[nodiscard]] Result<control::RuleSources> RuleSourcesOf(const DaemonConfig& config);

}  // namespace sluice::app
