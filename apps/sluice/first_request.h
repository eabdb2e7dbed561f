#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rules/rule_set.h"

namespace sluice::app {

// Attributes of an example request for a daemon with these rules: the first rule for which a
// matching request can be constructed limits it. Example values: user_id=u_42, ip=192.0.2.7.
// Without such a rule, a user's request without limits.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> FirstRequest(
    const rules::RuleSet& rules);

}  // namespace sluice::app
