#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sluice/decision.h"

#include "core/quota.h"

namespace sluice::frontend::resp {

class Connection;

// A command's name and arguments.
using Args = std::span<const std::string_view>;

enum class CommandFlag : std::uint8_t {
  kNone = 0,
  kNoAuth = 1,    // Also before the client has authenticated.
  kWrites = 2,    // Changes what keys have used.
  kOperator = 4,  // For clients that may undo limits: see MayOperate().
};
constexpr CommandFlag operator|(CommandFlag a, CommandFlag b) {
  return static_cast<CommandFlag>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool Has(CommandFlag flags, CommandFlag flag) {
  return (static_cast<unsigned>(flags) & static_cast<unsigned>(flag)) != 0;
}

// One command of a front end. The table is in commands.cc.
struct Command {
  std::string_view name;  // Lower case.
  int arity = 0;          // Arguments with the name; negative: at least so many.
  int first_key = 0;      // Which argument is a client's key, in Redis's counting; 0: none.
  CommandFlag flags = CommandFlag::kNone;
  std::string_view group;
  std::string_view summary;
  void (*run)(Args args, Connection& connection) = nullptr;  // Answers once.
};

[[nodiscard]] std::span<const Command> AllCommands();
// nullptr for an unknown name; case does not matter.
[[nodiscard]] const Command* FindCommand(std::string_view name);

// Executes one command, which is answered once: now, or when the service has answered. `args` is
// not empty and has any bytes.
void RunCommand(Args args, Connection& connection);

// --- Commands for limits ------------------------------------------------------------------------

// CL.THROTTLE key max_burst count period [quantity]
void RunThrottle(Args args, Connection& connection);
// Its numbers.
struct ThrottleNumbers {
  core::Quota quota;
  Cost cost;
};
// Reads it: 5 or 6 arguments with the name. Returns what is wrong, "" if nothing; then the numbers
// are in the range of service::ThrottleCheck.
[[nodiscard]] std::string ReadThrottle(Args args, ThrottleNumbers& numbers);

// SLUICE.CHECK rule|* name=value ... [COST n] [PEEK] [RECEIPT] [RESERVE]
void RunCheck(Args args, Connection& connection);
// SLUICE.STATUS rule|* name=value ... [COST n]
void RunStatus(Args args, Connection& connection);
// SLUICE.RESET rule|* name=value ...
void RunReset(Args args, Connection& connection);
// SLUICE.REFUND rule|* name=value ... [COST n]
void RunRefund(Args args, Connection& connection);

// Whether a client may reset and refund. Every application may check. But a client that could reset
// would not be limited. So it must have authenticated, by password or certificate; if the listener
// requires neither, it must be on this host.
[[nodiscard]] bool MayOperate(Connection& connection);

// --- Tokens of earlier answers ------------------------------------------------------------------

// SLUICE.RELEASE rule id [rule id ...]
void RunRelease(Args args, Connection& connection);
// SLUICE.RENEW rule id [rule id ...]
void RunRenew(Args args, Connection& connection);
// SLUICE.SETTLE reservation [attribute=n ...] [COST n]
void RunSettle(Args args, Connection& connection);
// SLUICE.REFUND RECEIPT receipt
void RunRefundOfReceipt(Args args, Connection& connection);
// Whether a SLUICE.REFUND is this one, and not an operator's.
[[nodiscard]] bool IsRefundOfReceipt(Args args);

// --- Commands that set a connection up, answered as a Redis server does --------------------------

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

// --- Commands about the server ------------------------------------------------------------------

void RunInfo(Args args, Connection& connection);
// COMMAND [COUNT | DOCS [name ...] | INFO [name ...] | LIST]
void RunCommandCommand(Args args, Connection& connection);

}  // namespace sluice::frontend::resp
