#include <memory>
#include <string>

#include "admin_text.h"
#include "ask_admin.h"
#include "command.h"
#include "command_line.h"
#include "wire/json_writer.h"

// sluice release.
namespace sluice::app {

namespace {

struct ReleaseOptions {
  AdminOptions target;
  std::string rule;
  std::string hold;
};

int Release(const ReleaseOptions& options) {
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject().Name("name").Text(options.rule).Name("id").Text(options.hold).EndObject();
  return AskAdmin(options.target,
                  {.method = "POST",
                   .target = "/v1/ratelimit/release",
                   .content_type = "application/json",
                   .body = body},
                  TellRelease);
}

}  // namespace

void AddRelease(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ReleaseOptions>();
  Command& command = AddCommand(
      app, "release", "Release a hold that a check returned",
      {.notes = "sluice check prints the rule and the id of each hold. Releasing a hold that has "
                "expired is not an error.",
       .examples = {{"Run a job within a concurrency limit",
                     "hold=$(sluice check tenant=acme | sed -n 's/.*release jobs //p') && "
                     "sluice release jobs \"$hold\""}}});
  command.add_option("rule", options->rule, "The concurrency rule's id")->required();
  command.add_option("hold", options->hold, "The hold's id")->required();
  AddServerOption(command, options->target.server);
  command.add_flag("--json", options->target.json, "Print the daemon's answer as JSON");
  command.callback([options, &exit_code] { exit_code = Release(*options); });
}

}  // namespace sluice::app
