#include <memory>
#include <string>

#include "ask_admin.h"
#include "command_line.h"

// sluice bans.
namespace sluice::app {

void AddBans(CLI::App& app, int& exit_code) {
  auto server = std::make_shared<std::string>("http://127.0.0.1:6070");
  CLI::App* command = app.add_subcommand("bans", "List the banned keys");
  command->footer(
      "Lists the keys banned by a rule's `ban`, and how long each ban lasts.\n"
      "Exit codes: 0 done, 2 error.\n"
      "Example: sluice bans");
  command->add_option("--server", *server, "The admin listener")->capture_default_str();
  command->callback(
      [server, &exit_code] { exit_code = AskAdmin(*server, {.target = "/v1/ratelimit/bans"}); });
}

}  // namespace sluice::app
