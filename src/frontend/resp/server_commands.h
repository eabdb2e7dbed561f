#pragma once

#include "frontend/resp/commands.h"

// What clients ask about the server.
namespace sluice::frontend::resp {

void RunInfo(Args args, Connection& connection);
// COMMAND [COUNT | DOCS [name ...] | INFO [name ...] | LIST]
void RunCommandCommand(Args args, Connection& connection);

}  // namespace sluice::frontend::resp
