#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace sluice::app {

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

}  // namespace sluice::app
