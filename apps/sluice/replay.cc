#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "command_line.h"
#include "exit_code.h"
#include "replay/events.h"

namespace sluice::app {

namespace {

struct ReplayOptions {
  std::string rules;
  std::string format = "events";
  bool decisions = false;
  std::string events;
};

int Replay(const ReplayOptions& options) {
  std::ios::sync_with_stdio(false);
  const replay::EventsOptions run{.rules_file = options.rules};
  if (options.events == "-") {
    return replay::RunEvents(run, std::cin, std::cout, std::cerr);
  }
  std::ifstream events(options.events);
  if (!events) {
    std::fprintf(stderr, "sluice: %s: cannot be read\n", options.events.c_str());
    return kExitError;
  }
  return replay::RunEvents(run, events, std::cout, std::cerr);
}

}  // namespace

void AddReplay(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* command = app.add_subcommand(
      "replay", "Run recorded events through rules, under the events' own clock");
  command->footer(
      "One JSON object a line in, one line per check or peek out. Fields: t_ns or t_ms, cost, op\n"
      "(check, peek, refund, reset, release, sweep, rules); all others are attributes.\n"
      "Exit codes: 0 done, 1 the rules do not load, 2 error.\n"
      "Example: sluice replay --rules rules.yaml --format events --decisions events.jsonl");
  command->add_option("--rules", options->rules, "The rule file")->required();
  command->add_option("--format", options->format, "What the input is")
      ->check(CLI::IsMember({"events"}))
      ->capture_default_str();
  command->add_flag("--decisions", options->decisions, "Print a line per check (events always do)");
  command->add_option("events", options->events, "The events, or - for standard input")->required();
  command->callback([options, &exit_code] { exit_code = Replay(*options); });
}

}  // namespace sluice::app
