#pragma once

#include "frontend/resp/commands.h"

namespace sluice::frontend::resp {

// SLUICE.CHECK rule|* name=value ... [COST n] [PEEK]
void RunCheck(Args args, Connection& connection);
// SLUICE.STATUS rule|* name=value ... [COST n]
void RunStatus(Args args, Connection& connection);
// SLUICE.RESET rule|* name=value ...
void RunReset(Args args, Connection& connection);
// SLUICE.REFUND rule|* name=value ... [COST n]
void RunRefund(Args args, Connection& connection);

// Whether a client may lift limits by hand. Checking is for every application; making a limit
// forget is for who knows the listener's password or has a certificate for it, or where neither is
// asked for, for who is on this host: others could free themselves of every limit.
[[nodiscard]] bool MayOperate(Connection& connection);

}  // namespace sluice::frontend::resp
