#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "logs/attribute_plan.h"
#include "logs/log_stream.h"

namespace sluice::app {

// The options that all commands for request logs share.
struct LogArguments {
  std::string format = "auto";
  std::vector<std::string> maps;  // attribute=column
  std::string cost;
  std::string columns;     // a,b,c
  std::string time;        // column[:unit]
  std::string log_format;  // $remote_addr [$time_local] ...
  bool sort = false;
  bool no_spread = false;
  std::string zone = "UTC";
  std::string reorder = "2m";
  std::vector<std::string> logs;
};

// `more_formats`: further values of --format.
void AddLogArguments(CLI::App& command, LogArguments& arguments,
                     const std::vector<std::string>& more_formats);

// nullopt, with a message on stderr, if one is invalid.
[[nodiscard]] std::optional<logs::LogOptions> LogOptionsOf(const LogArguments& arguments);
[[nodiscard]] std::optional<logs::AttributePlan> AttributePlanOf(
    const LogArguments& arguments, const std::vector<std::string>& attributes);

// Prints why a command cannot read or judge its logs, and returns the exit code.
[[nodiscard]] int RefuseLogs(const std::string& why);

// The width of the terminal of standard output; without a terminal, $COLUMNS or 80.
[[nodiscard]] std::size_t OutputColumns();

// "250ms", "10s", "1m", "2h", "30d", "0": a duration as in rule files.
[[nodiscard]] std::optional<Duration> DurationOf(const std::string& text);

}  // namespace sluice::app
