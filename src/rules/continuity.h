#pragma once

#include <optional>
#include <string>

#include "rules/attribute_table.h"
#include "rules/compiled_rule.h"
#include "rules/rule.h"

namespace sluice::rules {

// What makes every key of `next` start fresh although `before` has the same id (or the id that
// `next` had): "its window was 1m and is 1h". nullopt where what keys have used carries over.
// `kinds_differ`: an attribute of the key is declared otherwise than before (type, prefix, hash).
[[nodiscard]] std::optional<std::string> FreshStart(const Rule& before, const Rule& next,
                                                    bool kinds_differ);

}  // namespace sluice::rules
