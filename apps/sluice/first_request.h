#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rules/rule_set.h"

namespace sluice::app {

// Attributes of a request that the first of the rules limits which can be seen from its text: what
// to try on a daemon with these rules. Made-up values: user_id=u_42, ip=192.0.2.7. Where there is
// no such rule, a user's request that none limits.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> FirstRequest(
    const rules::RuleSet& rules);

}  // namespace sluice::app
