#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sluice::frontend::resp {

class Connection;

// A command's name and arguments.
using Args = std::span<const std::string_view>;

enum class CommandFlag : std::uint8_t {
  kNone = 0,
  kStranger = 1,  // Also before the client has authenticated.
  kWrites = 2,    // Changes what keys have used.
  kOperator = 4,  // For who may undo limits: see MayOperate() in rule_commands.h.
};
constexpr CommandFlag operator|(CommandFlag a, CommandFlag b) {
  return static_cast<CommandFlag>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool Has(CommandFlag flags, CommandFlag flag) {
  return (static_cast<unsigned>(flags) & static_cast<unsigned>(flag)) != 0;
}

// One command that a front end knows: the table is in commands.cc.
struct Command {
  std::string_view name;  // Lower case.
  int arity = 0;          // Arguments with the name; negative: at least so many.
  int first_key = 0;      // Which argument is a key of the client's, as Redis counts; 0: none.
  CommandFlag flags = CommandFlag::kNone;
  std::string_view group;
  std::string_view summary;
  void (*run)(Args args, Connection& connection) = nullptr;  // Answers once.
};

[[nodiscard]] std::span<const Command> AllCommands();
// nullptr if there is none of that name, in any case of letters.
[[nodiscard]] const Command* FindCommand(std::string_view name);

// Carries out one command, which is answered once: now, or when the service has. `args` is not
// empty and holds any bytes.
void RunCommand(Args args, Connection& connection);

}  // namespace sluice::frontend::resp
