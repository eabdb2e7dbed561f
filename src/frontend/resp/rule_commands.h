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

// Whether a client may reset and refund by hand. Every application may check. Resets and refunds
// are for clients that have authenticated, by password or certificate, and, if the listener
// requires neither, for clients on this host: others could free themselves of every limit.
[[nodiscard]] bool MayOperate(Connection& connection);

}  // namespace sluice::frontend::resp
