#pragma once

#include "frontend/resp/commands.h"

// What takes back what an answer gave out.
namespace sluice::frontend::resp {

// SLUICE.RELEASE rule id [rule id ...]
void RunRelease(Args args, Connection& connection);
// SLUICE.RENEW rule id [rule id ...]
void RunRenew(Args args, Connection& connection);
// SLUICE.SETTLE reservation [attribute=n ...] [COST n]
void RunSettle(Args args, Connection& connection);
// SLUICE.REFUND RECEIPT receipt
void RunRefundOfReceipt(Args args, Connection& connection);
// Whether a SLUICE.REFUND is that, and no operator's.
[[nodiscard]] bool IsRefundOfReceipt(Args args);

}  // namespace sluice::frontend::resp
