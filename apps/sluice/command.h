#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace sluice::app {

// A command line that works as it is; a test runs it.
struct Example {
  std::string what;
  std::string line;
};

// An environment variable that the program reads.
struct Variable {
  std::string name;
  std::string what;
};

// The texts of a command, besides its options, for --help, the manual page, completions and
// docs/cli.md.
struct CommandHelp {
  std::string notes{};  // Paragraphs, an empty line between them.
  std::string exit_codes = "0 done, 2 error";
  std::vector<Variable> variables{};
  std::vector<Example> examples{};
};

// A command with additional help texts.
class Command final : public CLI::App {
 public:
  Command(const std::string& name, const std::string& title, CommandHelp help);

  [[nodiscard]] const CommandHelp& help() const { return help_; }

 private:
  const CommandHelp help_;
};

// Adds a command to `parent`, which owns it. All commands are added with this function.
Command& AddCommand(CLI::App& parent, const std::string& name, const std::string& title,
                    CommandHelp help);

// The commands below `app`, in the order in which they were added, without hidden ones.
[[nodiscard]] std::vector<const Command*> CommandsOf(const CLI::App& app);

// "sluice table info".
[[nodiscard]] std::string FullName(const CLI::App& app);

// The text in lines of at most `width` characters, each after `indent`; ends with a line feed.
[[nodiscard]] std::string Wrapped(const std::string& text, const std::string& indent = "",
                                  std::size_t width = 80);

// --server for a command that calls a check listener, with its default and SLUICE_SERVER.
void AddServerOption(CLI::App& command, std::string& server);
// The same for a command that calls an admin listener, with SLUICE_ADMIN.
void AddAdminOption(CLI::App& command, std::string& server);

}  // namespace sluice::app
