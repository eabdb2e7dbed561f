#include "frontend/resp/commands.h"

#include <array>
#include <string>

#include "frontend/resp/connection.h"
#include "frontend/resp/front_end.h"
#include "wire/ascii.h"

namespace sluice::frontend::resp {

namespace {

using Flag = CommandFlag;

// To add a command: a row here and its function, in the file of its group. The table is searched
// from the top, so the most frequent commands come first.
constexpr std::array kCommands{
    Command{"cl.throttle", -5, 1, Flag::kWrites, "generic",
            "Checks whether a key may spend a quantity now, by the limit in the command.",
            RunThrottle},
    Command{"sluice.check", -2, 0, Flag::kWrites, "generic",
            "Checks whether a request may pass, by the active rules.", RunCheck},
    Command{"sluice.status", -2, 0, Flag::kNone, "generic", "Shows what is left, without charging.",
            RunStatus},
    Command{"ping", -1, 0, Flag::kNone, "connection", "Replies PONG, or the given message.",
            RunPing},
    Command{"sluice.reset", -2, 0, Flag::kWrites | Flag::kOperator, "generic",
            "Resets the keys of a request.", RunReset},
    Command{"sluice.refund", -2, 0, Flag::kWrites | Flag::kOperator, "generic",
            "Gives units back to the keys of a request, or refunds a receipt.", RunRefund},
    Command{"sluice.release", -3, 0, Flag::kWrites, "generic", "Releases holds.", RunRelease},
    Command{"sluice.renew", -3, 0, Flag::kWrites, "generic", "Extends holds.", RunRenew},
    Command{"sluice.settle", -3, 0, Flag::kWrites, "generic",
            "Charges the actual cost of a reservation.", RunSettle},
    Command{"echo", 2, 0, Flag::kNone, "connection", "Answers the message.", RunEcho},
    Command{"hello", -1, 0, Flag::kNoAuth, "connection",
            "Chooses the protocol; may authenticate and name the client.", RunHello},
    Command{"auth", -2, 0, Flag::kNoAuth, "connection", "Authenticates.", RunAuth},
    Command{"client", -2, 0, Flag::kNone, "connection",
            "SETNAME, GETNAME, SETINFO, ID of this connection.", RunClient},
    Command{"select", 2, 0, Flag::kNone, "connection", "Selects a database: only 0 exists.",
            RunSelect},
    Command{"reset", 1, 0, Flag::kNoAuth, "connection",
            "Resets protocol, name and login of this connection.", RunResetSession},
    Command{"quit", -1, 0, Flag::kNoAuth, "connection", "Replies OK and closes the connection.",
            RunQuit},
    Command{"info", -1, 0, Flag::kNone, "server", "What is running.", RunInfo},
    Command{"command", -1, 0, Flag::kNone, "server", "The commands: COUNT, DOCS, INFO, LIST.",
            RunCommandCommand},
};

// A browser can be made to post to this port by a web page. Its request then reads as inline
// commands, and the body might contain a real command. The first line or the Host field reveals it.
bool IsHttp(std::string_view name) {
  return wire::EqualsIgnoreCase(name, "post") || wire::EqualsIgnoreCase(name, "host:");
}

bool Fits(const Command& command, std::size_t count) {
  return command.arity < 0 ? count >= static_cast<std::size_t>(-command.arity)
                           : count == static_cast<std::size_t>(command.arity);
}

}  // namespace

std::span<const Command> AllCommands() {
  return kCommands;
}

const Command* FindCommand(std::string_view name) {
  for (const Command& command : kCommands) {
    if (wire::EqualsIgnoreCase(command.name, name)) {
      return &command;
    }
  }
  return nullptr;
}

void RunCommand(Args args, Connection& connection) {
  constexpr std::size_t kShown = 64;  // For an unknown name.
  const Command* command = FindCommand(args.front());
  if (command == nullptr) {
    if (IsHttp(args.front())) {
      connection.Reply().Error("ERR", "this port speaks the Redis protocol, not HTTP");
      connection.CloseAfterwards();
      return;
    }
    if (!connection.session().authenticated) {
      connection.Reply().Error("NOAUTH", "Authentication required.");
      return;
    }
    connection.Reply().Error(
        "ERR", "unknown command '" + std::string(args.front().substr(0, kShown)) + "'");
    return;
  }
  if (!connection.session().authenticated && !Has(command->flags, Flag::kNoAuth)) {
    connection.Reply().Error("NOAUTH", "Authentication required.");
    return;
  }
  if (!Fits(*command, args.size())) {
    connection.Reply().Error(
        "ERR", "wrong number of arguments for '" + std::string(command->name) + "' command");
    return;
  }
  // A receipt is its own permission.
  if (command->run == RunRefund && IsRefundOfReceipt(args)) {
    RunRefundOfReceipt(args, connection);
    return;
  }
  if (Has(command->flags, Flag::kOperator) && !MayOperate(connection)) {
    connection.Reply().Error(
        "NOPERM", std::string(command->name) +
                      " is only for clients on this host, or on a listener with auth: set one");
    return;
  }
  command->run(args, connection);
}

}  // namespace sluice::frontend::resp
