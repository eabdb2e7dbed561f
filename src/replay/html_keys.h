#pragma once

#include <string>
#include <vector>

#include "replay/replay_report.h"

namespace sluice::replay {

// A list of keys: for each its requests as a bar, how many of them were denied, and what the denied
// ones were, where the report knows it.
[[nodiscard]] std::string KeyList(const RuleReport& rule, const std::vector<KeyLine>& keys);

}  // namespace sluice::replay
