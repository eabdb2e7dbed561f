#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "sluice/attribute.h"

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

// What CLI11 knows of one option or positional argument, for descriptions of it.
struct OptionFacts {
  std::vector<std::string> names;    // "-h", "--help"; empty for a positional argument.
  std::string argument;              // "URL", or a positional argument's name; "" for a flag.
  std::string type;                  // "TEXT", "FILE", "DIR", "URL", ...; "" for a flag.
  std::vector<std::string> choices;  // All possible values; empty: any.
  std::string what;
  std::string default_text;  // "" where there is none.
  std::string variable;      // The environment variable that sets it; "".
  bool required = false;
  bool repeats = false;  // Takes several values.

  [[nodiscard]] bool is_positional() const { return names.empty(); }
  [[nodiscard]] bool is_flag() const { return argument.empty(); }
  // Whether its value is the name of a file or folder.
  [[nodiscard]] bool is_file() const { return type == "FILE" || type == "DIR"; }
};

// The options and positional arguments of a command, in the order of its --help.
[[nodiscard]] std::vector<OptionFacts> FactsOf(const CLI::App& command);

// "sluice check [OPTIONS] [attributes...]".
[[nodiscard]] std::string SynopsisOf(const CLI::App& command);

// Parses the key=value words of a command line. False, with a message on stderr, if one has no '='
// or nothing before it. The attributes are views of `words`.
[[nodiscard]] bool ReadAttributes(const std::vector<std::string>& words,
                                  std::vector<Attribute>& attributes);

// `path` with a query that asks about a request with these attributes and this cost.
[[nodiscard]] std::string RequestTarget(std::string_view path, std::int64_t cost,
                                        const std::vector<Attribute>& attributes);

}  // namespace sluice::app
