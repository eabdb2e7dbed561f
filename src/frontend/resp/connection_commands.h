#pragma once

#include "frontend/resp/commands.h"

// What Redis clients say to set their connection up, answered as a Redis server does.
namespace sluice::frontend::resp {

void RunPing(Args args, Connection& connection);
void RunEcho(Args args, Connection& connection);
// HELLO [2|3 [AUTH user password] [SETNAME name]]
void RunHello(Args args, Connection& connection);
// AUTH [default] password
void RunAuth(Args args, Connection& connection);
void RunClient(Args args, Connection& connection);
void RunSelect(Args args, Connection& connection);
void RunResetSession(Args args, Connection& connection);
void RunQuit(Args args, Connection& connection);

}  // namespace sluice::frontend::resp
