#pragma once

#include <span>

#include "rules/attribute_table.h"
#include "rules/compiled_rule.h"
#include "rules/findings.h"
#include "rules/quota_reader.h"
#include "rules/yaml_tree.h"

namespace sluice::rules {

// Reads a rule's `overrides` into `table`. `key`: the rule's key attributes. A map key holds
// their values, joined by ':' where there are several, with '\' before a ':' or '\' that belongs
// to a value. Addresses are brought into the form that keys have. `quotas` has read the rule.
void ReadOverrides(const YamlNode& node, std::span<const AttributeId> key,
                   const AttributeTable& attributes, QuotaReader& quotas, Reporter& report,
                   OverrideTable& table);

}  // namespace sluice::rules
