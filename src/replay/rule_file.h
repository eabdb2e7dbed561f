#pragma once

#include <filesystem>
#include <memory>

#include "rules/rule_set.h"

namespace sluice::replay {

// Reads and builds one rule file. nullptr if it cannot be read or has errors: they stand in
// `findings`, with their places in a file called as `path` is written.
[[nodiscard]] std::shared_ptr<const rules::RuleSet> LoadRuleFile(const std::filesystem::path& path,
                                                                 const rules::RuleSet* running,
                                                                 rules::Findings& findings);

}  // namespace sluice::replay
