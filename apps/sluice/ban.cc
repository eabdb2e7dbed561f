#include <memory>
#include <string>
#include <vector>

#include "ask_admin.h"
#include "command_line.h"
#include "exit_code.h"
#include "wire/json_writer.h"

// sluice bans and sluice unban.
namespace sluice::app {

namespace {

struct BanOptions {
  std::string server = "http://127.0.0.1:6070";
  std::vector<std::string> words;
  std::string rule;
};

int Unban(const BanOptions& options) {
  std::vector<Attribute> attributes;
  if (!ReadAttributes(options.words, attributes)) {
    return kExitError;
  }
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  json.Name("attributes").BeginObject();
  for (const Attribute& attribute : attributes) {
    json.EscapedName(attribute.name).Text(attribute.value);
  }
  json.EndObject();
  if (!options.rule.empty()) {
    json.Name("rule").Text(options.rule);
  }
  json.EndObject();
  return AskAdmin(options.server, {.method = "POST",
                                   .target = "/v1/ratelimit/unban",
                                   .content_type = "application/json",
                                   .body = body});
}

}  // namespace

void AddBans(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BanOptions>();
  CLI::App* command = app.add_subcommand("bans", "List the keys that a running daemon refuses");
  command->footer(
      "Those that a rule's `ban` has banned, with what is left of it.\n"
      "Exit codes: 0 done, 2 error.\n"
      "Example: sluice bans");
  command->add_option("--server", options->server, "The admin listener")->capture_default_str();
  command->callback([options, &exit_code] {
    exit_code = AskAdmin(options->server, {.target = "/v1/ratelimit/bans"});
  });
}

void AddUnban(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BanOptions>();
  CLI::App* command = app.add_subcommand("unban", "Lift bans of keys on a running daemon");
  command->footer(
      "The key of every rule that applies to the attributes.\n"
      "Exit codes: 0 done, 2 error.\n"
      "Example: sluice unban ip=192.0.2.7 endpoint=/login");
  command->add_option("attributes", options->words, "A request's attributes: key=value ...")
      ->required();
  command->add_option("--rule", options->rule, "Only this rule's key");
  command->add_option("--server", options->server, "The admin listener")->capture_default_str();
  command->callback([options, &exit_code] { exit_code = Unban(*options); });
}

}  // namespace sluice::app
