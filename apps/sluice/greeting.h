#pragma once

#include <string>

#include "rules/rule_set.h"
#include "server.h"

namespace sluice::app {

// Prints, on stdout, what was started: where it listens, where state lives, which rules are
// in force and where they came from, and what to try. Then the daemon is ready.
void Greet(const Server& server, const std::string& store, const rules::RuleSet& rules);

}  // namespace sluice::app
