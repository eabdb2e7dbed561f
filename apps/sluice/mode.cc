#include <memory>
#include <string>

#include "answer_text.h"
#include "ask_daemon.h"
#include "command.h"
#include "command_line.h"
#include "wire/url_encoding.h"

// sluice mode and sluice kill-switch.
namespace sluice::app {

namespace {

struct ModeOptions {
  AdminOptions admin;
  std::string rule;
  std::string mode;
};

int Mode(const ModeOptions& options) {
  std::string target = "/v1/ratelimit/mode/";
  wire::AppendPercentEncoded(target, options.rule);
  if (options.mode.empty()) {
    return AskAdmin(options.admin, {.target = target}, TellMode);
  }
  if (options.mode == "own") {
    return AskAdmin(options.admin, {.method = "DELETE", .target = target}, TellMode);
  }
  return AskAdmin(options.admin,
                  {.method = "PUT",
                   .target = target,
                   .content_type = "application/json",
                   .body = R"({"mode": ")" + options.mode + "\"}"},
                  TellMode);
}

int KillSwitch(const ModeOptions& options) {
  const std::string target = "/v1/ratelimit/kill-switch";
  if (options.mode.empty()) {
    return AskAdmin(options.admin, {.target = target}, TellKillSwitch);
  }
  return AskAdmin(options.admin,
                  {.method = "PUT",
                   .target = target,
                   .content_type = "application/json",
                   .body = options.mode == "on" ? R"({"on": true})" : R"({"on": false})"},
                  TellKillSwitch);
}

}  // namespace

void AddMode(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ModeOptions>();
  Command& command = AddCommand(
      app, "mode", "Show or set a rule's mode",
      {.notes = "The mode takes effect at once on the node that is asked, and stays until it is "
                "removed.",
       .examples = {
           {"Count what the rule would deny, without denying it", "sluice mode login shadow"},
           {"Show the mode", "sluice mode login"},
           {"Remove it: the rule's own mode applies again", "sluice mode login own"}}});
  command.add_option("rule", options->rule, "The rule's id")->required();
  command
      .add_option("mode", options->mode,
                  "The mode; own removes the mode that was set, so the rule's own mode applies")
      ->check(CLI::IsMember({"enforce", "shadow", "off", "own"}));
  AddAdminOptions(command, options->admin);
  command.callback([options, &exit_code] { exit_code = Mode(*options); });
}

void AddKillSwitch(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ModeOptions>();
  Command& command = AddCommand(
      app, "kill-switch", "Turn all rules off or on; without an argument, show the state",
      {.examples = {{"Allow every request", "sluice kill-switch on"},
                    {"Turn all rules on again", "sluice kill-switch off"}}});
  command.add_option("state", options->mode, "on: every request is allowed, nothing is counted")
      ->check(CLI::IsMember({"on", "off"}));
  AddAdminOptions(command, options->admin);
  command.callback([options, &exit_code] { exit_code = KillSwitch(*options); });
}

}  // namespace sluice::app
