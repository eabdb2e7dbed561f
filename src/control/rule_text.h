#pragma once

#include <string>
#include <string_view>

#include "rules/rule_set.h"

namespace sluice::control {

// Rule `id` of `source` as JSON: its fields in order, with numbers and booleans as in YAML. "{}" if
// the source does not have the rule. Parses the whole source, so it is only for display.
[[nodiscard]] std::string RuleText(const rules::SourceText& source, std::string_view id);

}  // namespace sluice::control
