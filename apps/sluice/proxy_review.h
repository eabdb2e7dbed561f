#pragma once

#include <vector>

#include "daemon_config.h"
#include "rules/findings.h"
#include "rules/rule_set.h"

namespace sluice::app {

// Warns of rules that never judge a request of proxies because these do not tell an attribute: it
// is none of the four that are always told, and no listener's proxy: {headers: ...} names it. Says
// nothing where no listener has a `proxy` section: applications say what they like.
void WarnOfUntoldAttributes(const std::vector<ListenerConfig>& listeners,
                            const rules::RuleSet& rules, rules::Findings& findings);

}  // namespace sluice::app
