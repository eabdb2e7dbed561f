#pragma once

#include <string>

#include "rules/rule.h"
#include "rules/rule_set.h"
#include "server.h"

namespace sluice::app {

// What a daemon has in force when it starts to serve.
struct InForce {
  std::string store;       // Where state lives, in words.
  std::string snapshot;    // The file with the table's snapshot; "": none is written.
  std::string api_folder;  // With rules put over the API, and modes; "": none are kept.
  const rules::RuleSet& rules;
  const rules::ModeOverrides& modes;  // Set at run time, before.
  std::string envoy;                  // Envoy's limits, in words; "": there is no such service.
};

// Prints, on stdout, what was started: where it listens, what is in force and where it came from,
// and what to try. Then the daemon is ready.
void Greet(const Server& server, const InForce& in_force);

}  // namespace sluice::app
