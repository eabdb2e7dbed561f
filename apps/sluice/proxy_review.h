#pragma once

#include <vector>

#include "daemon_config.h"
#include "rules/findings.h"
#include "rules/rule_set.h"

namespace sluice::app {

// Looks at rules with the eyes of listeners that have a `proxy` section; says nothing where none
// has one, for applications send what they like. Warnings:
//
//   - a rule that never judges a request of proxies because these do not send an attribute: it is
//     none of kProxiedAttributes, and no listener's headers name it
//   - a rule that compares `endpoint` with a text that no path has where paths are strict
//   - a rule of algorithm concurrency: a proxy does not report when a request ends
//
// The last is an error where the rule is enforced and all listeners for checks are proxies', for
// then no caller can give a hold back.
void ReviewForProxies(const std::vector<ListenerConfig>& listeners, const rules::RuleSet& rules,
                      rules::Findings& findings);

}  // namespace sluice::app
