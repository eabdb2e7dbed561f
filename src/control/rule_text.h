#pragma once

#include <string>
#include <string_view>

#include "rules/rule_set.h"

namespace sluice::control {

// Rule `id` of `source` as JSON: its fields in their order, numbers and truths where YAML reads
// them so. "{}" if the source has no such rule. Reads the whole source: for a person who looks.
[[nodiscard]] std::string RuleText(const rules::SourceText& source, std::string_view id);

}  // namespace sluice::control
