#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "listener_config.h"
#include "rules/findings.h"
#include "rules/rule_set.h"

namespace sluice::app {

// Warnings of `sluice validate` about rules that are valid but may not be what was meant. API
// callers choose their attribute names, so an attribute causes a warning only if it is spelt like
// one that Sluice provides.
void HintAtRules(const std::vector<ListenerConfig>& listeners, const rules::RuleSet& rules,
                 rules::Findings& findings);

// " (did you mean endpoint?)" if `attribute` is a likely misspelling of one of `known`, or another
// common word for it ("path"); otherwise "".
[[nodiscard]] std::string SuggestAttribute(std::string_view attribute,
                                           const std::set<std::string, std::less<>>& known);

}  // namespace sluice::app
