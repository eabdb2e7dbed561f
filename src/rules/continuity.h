#pragma once

#include <optional>
#include <string>

#include "rules/attribute_table.h"
#include "rules/compiled_rule.h"
#include "rules/rule.h"

namespace sluice::rules {

// Why every key of `next` starts with its full quota although `before` has the same id (or a former
// id of `next`): "its window was 1m and is 1h". nullopt if the keys keep what they have used.
// `kinds_differ`: an attribute of the key is declared otherwise than before (type, prefix, hash).
[[nodiscard]] std::optional<std::string> FreshStart(const Rule& before, const Rule& next,
                                                    bool kinds_differ);

}  // namespace sluice::rules
