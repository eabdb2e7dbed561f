#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ask_daemon.h"
#include "command.h"
#include "command_line.h"
#include "exit_code.h"
#include "wire/url_encoding.h"

namespace sluice::app {

namespace {

struct StatusOptions {
  std::string server;
  std::vector<std::string> words;
  std::int64_t cost = 1;
  bool json = false;
};

int Status(const StatusOptions& options) {
  std::vector<Attribute> attributes;
  if (!ReadAttributes(options.words, attributes)) {
    return kExitError;
  }
  std::string target = "/v1/ratelimit/status?cost=" + std::to_string(options.cost);
  for (const Attribute& attribute : attributes) {
    target += '&';
    wire::AppendPercentEncoded(target, attribute.name);
    target += '=';
    wire::AppendPercentEncoded(target, attribute.value);
  }
  return AskDaemon(options.server, {.target = target}, options.json);
}

}  // namespace

void AddStatus(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<StatusOptions>();
  Command& command = AddCommand(
      app, "status", "Ask a daemon what is left, without charging",
      {.notes =
           "On an admin listener, a secret attribute may be given by its hash (docs/rules.md).",
       .exit_codes = "0 the cost would be allowed, 1 it would be denied, 2 error",
       .examples = {{"What is left for a user", "sluice status user_id=u_42 plan=pro"}}});
  command.add_option("attributes", options->words, "The request's attributes: key=value ...");
  AddServerOption(command, options->server);
  command.add_option("--cost", options->cost, "Cost to judge")->capture_default_str();
  command.add_flag("--json", options->json, "Print the daemon's answer as JSON");
  command.callback([options, &exit_code] { exit_code = Status(*options); });
}

}  // namespace sluice::app
