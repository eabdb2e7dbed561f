#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "listener_config.h"
#include "rules/findings.h"
#include "rules/rule_set.h"

namespace sluice::app {

// What is in force as it is written, and may not be what was meant: warnings
// for `sluice validate`. Callers of the API name their attributes themselves,
// so an attribute is suspected there only where its spelling is near one that
// Sluice gives.
void HintAtRules(const std::vector<ListenerConfig>& listeners, const rules::RuleSet& rules,
                 rules::Findings& findings);

// " (did you mean endpoint?)" where `attribute` is a slip of the pen away from
// one of `known`, or another common word for it ("path"); "" else.
[[nodiscard]] std::string SuggestAttribute(std::string_view attribute,
                                           const std::set<std::string, std::less<>>& known);

}  // namespace sluice::app
