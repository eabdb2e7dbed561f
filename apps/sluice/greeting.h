#pragma once

#include <string>

#include "rules/rule_set.h"
#include "server.h"

namespace sluice::app {

// Where a daemon keeps what outlives it; "": nowhere.
struct StateFolders {
  std::string snapshot;  // The file with the table's snapshot.
  std::string api;       // The folder with rules put over the API, and modes.
};

// Prints, on stdout, what was started: where it listens, where state lives, which rules are
// in force and where they came from, and what to try. Then the daemon is ready.
void Greet(const Server& server, const std::string& store, const StateFolders& folders,
           const rules::RuleSet& rules);

}  // namespace sluice::app
