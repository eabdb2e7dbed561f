#pragma once

#include "rules/attribute_table.h"
#include "rules/compiled_rule.h"
#include "rules/findings.h"

namespace sluice::rules {

// Warns of plans that can never match: what an earlier plan takes, or what the rule's own match
// keeps out. Only what is certain is warned of.
void ReviewPlans(const CompiledRule& rule, const AttributeTable& attributes, Findings& findings);

}  // namespace sluice::rules
