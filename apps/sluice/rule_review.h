#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon_config.h"
#include "listener_config.h"
#include "rules/findings.h"
#include "rules/rule_set.h"

namespace sluice::app {

// Checks rules for listeners with a `proxy` section. Without such a listener nothing is checked,
// because applications may send any attribute. Warnings:
//
//   - a rule that never judges requests of proxies, because they do not send an attribute: it is
//     none of kProxiedAttributes, and no listener's headers name it
//   - a rule that compares `endpoint` with a text that no path has where paths are strict
//   - a rule of algorithm concurrency: a proxy does not report when a request ends
//
// The last is an error if the rule is enforced and all check listeners have a proxy section,
// because then no caller can release a hold.
void ReviewForProxies(const std::vector<ListenerConfig>& listeners, const rules::RuleSet& rules,
                      rules::Findings& findings);

// Warnings of `sluice validate` about rules that are valid but may not be what was meant. API
// callers choose their attribute names, so an attribute causes a warning only if it is spelt like
// one that Sluice provides.
void HintAtRules(const std::vector<ListenerConfig>& listeners, const rules::RuleSet& rules,
                 rules::Findings& findings);

// Whether two rules with the same key, which are both charged a call's cost, differ so much that
// `wide` probably counts something else than requests. HintAtRules() warns of that.
[[nodiscard]] bool MayCountOtherUnits(const rules::RuleSet& rules, const rules::Rule& tight,
                                      const rules::Rule& wide);

// " (did you mean endpoint?)" if `attribute` is a likely misspelling of one of `known`, or another
// common word for it ("path"); otherwise "".
[[nodiscard]] std::string SuggestAttribute(std::string_view attribute,
                                           const std::set<std::string, std::less<>>& known);

}  // namespace sluice::app
