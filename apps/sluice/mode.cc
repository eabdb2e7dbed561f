#include <memory>
#include <string>

#include "ask_admin.h"
#include "command_line.h"
#include "wire/url.h"

// sluice mode and sluice kill-switch.
namespace sluice::app {

namespace {

struct ModeOptions {
  std::string server = "http://127.0.0.1:6070";
  std::string rule;
  std::string mode;
};

int Mode(const ModeOptions& options) {
  std::string target = "/v1/ratelimit/mode/";
  wire::AppendPercentEncoded(target, options.rule);
  if (options.mode.empty()) {
    return AskAdmin(options.server, {.target = target});
  }
  if (options.mode == "own") {
    return AskAdmin(options.server, {.method = "DELETE", .target = target});
  }
  return AskAdmin(options.server, {.method = "PUT",
                                   .target = target,
                                   .content_type = "application/json",
                                   .body = R"({"mode": ")" + options.mode + "\"}"});
}

int KillSwitch(const std::string& server, const std::string& state) {
  const std::string target = "/v1/ratelimit/kill-switch";
  if (state.empty()) {
    return AskAdmin(server, {.target = target});
  }
  return AskAdmin(server, {.method = "PUT",
                           .target = target,
                           .content_type = "application/json",
                           .body = state == "on" ? R"({"on": true})" : R"({"on": false})"});
}

}  // namespace

void AddMode(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ModeOptions>();
  CLI::App* command = app.add_subcommand("mode", "Show or set a rule's mode");
  command->footer(
      "Exit codes: 0 done, 2 error.\n"
      "Example: sluice mode login shadow");
  command->add_option("rule", options->rule, "The rule's id")->required();
  command
      ->add_option("mode", options->mode, "The mode; own: undo, use the mode written in the rule")
      ->check(CLI::IsMember({"enforce", "shadow", "off", "own"}));
  command->add_option("--server", options->server, "The admin listener")->capture_default_str();
  command->callback([options, &exit_code] { exit_code = Mode(*options); });
}

void AddKillSwitch(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ModeOptions>();
  CLI::App* command =
      app.add_subcommand("kill-switch", "Turn all rules off or on again (show: no argument)");
  command->footer("Exit codes: 0 done, 2 error.");
  command->add_option("state", options->mode, "on: every request is allowed, nothing is counted")
      ->check(CLI::IsMember({"on", "off"}));
  command->add_option("--server", options->server, "The admin listener")->capture_default_str();
  command->callback(
      [options, &exit_code] { exit_code = KillSwitch(options->server, options->mode); });
}

}  // namespace sluice::app
