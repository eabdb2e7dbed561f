#pragma once

#include "rules/attribute_table.h"
#include "rules/condition.h"
#include "rules/findings.h"
#include "rules/yaml_tree.h"

namespace sluice::rules {

inline constexpr std::size_t kMaxPatternsPerCondition = 10'000;

// Reads a `match`: a map from attribute to what its value must be. Text is exact, with a
// trailing * a prefix (a star elsewhere is a star), {regex: ...} an RE2 expression for the whole
// value, {cidr: ...} a block of addresses or a list of them; a list accepts any of its values.
// On an attribute of type ip a plain address is the block of that one address.
// Notes problems; what cannot be read is left out.
[[nodiscard]] Conditions ReadMatch(const YamlNode& node, AttributeTable& attributes,
                                   Reporter& report);

}  // namespace sluice::rules
