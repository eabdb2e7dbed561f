#include <memory>
#include <string>

#include "admin_text.h"
#include "ask_admin.h"
#include "command.h"
#include "command_line.h"

// sluice bans.
namespace sluice::app {

void AddBans(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<AdminOptions>();
  Command& command =
      AddCommand(app, "bans", "List the banned keys",
                 {.notes = "Lists the keys banned by a rule's `ban`, and how long each ban lasts.",
                  .examples = {{"Which keys are banned, and for how long", "sluice bans"}}});
  AddAdminOptions(command, *options);
  command.callback([options, &exit_code] {
    exit_code = AskAdmin(*options, {.target = "/v1/ratelimit/bans"}, TellBans);
  });
}

}  // namespace sluice::app
