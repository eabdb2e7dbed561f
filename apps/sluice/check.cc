#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ask_daemon.h"
#include "command.h"
#include "command_line.h"
#include "exit_code.h"
#include "wire/json_writer.h"

namespace sluice::app {

namespace {

// The daemon delays an answer by at most a minute ("wait": true).
constexpr std::chrono::seconds kTimeout(70);

struct CheckOptions {
  std::string server;
  std::vector<std::string> words;
  std::int64_t cost = 1;
  bool peek = false;
  bool wait = false;
  bool json = false;
};

std::string BodyOf(const CheckOptions& options, const std::vector<Attribute>& attributes) {
  std::string body = R"({"attributes": {)";
  for (const Attribute& attribute : attributes) {
    body += body.back() == '{' ? "" : ", ";
    wire::AppendJsonString(body, attribute.name);
    body += ": ";
    wire::AppendJsonString(body, attribute.value);
  }
  body += "}, \"cost\": " + std::to_string(options.cost);
  body += options.peek ? ", \"peek\": true" : "";
  body += options.wait ? ", \"wait\": true" : "";
  return body + '}';
}

int Check(const CheckOptions& options) {
  std::vector<Attribute> attributes;
  if (!ReadAttributes(options.words, attributes)) {
    return kExitError;
  }
  return AskDaemon(options.server,
                   {.method = "POST",
                    .target = "/v1/ratelimit/check",
                    .content_type = "application/json",
                    .body = BodyOf(options, attributes),
                    .timeout = kTimeout},
                   options.json);
}

}  // namespace

void AddCheck(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CheckOptions>();
  Command& command = AddCommand(
      app, "check", "Ask a daemon whether a request may pass",
      {.notes = "The answer names every rule that applies. The answer of a concurrency rule has a "
                "hold; sluice release releases it.",
       .exit_codes = "0 allowed, 1 denied, 2 error",
       .examples = {
           {"Charge three units", "sluice check user_id=u_42 endpoint=/v1/charges --cost 3"},
           {"Look without charging", "sluice check user_id=u_42 --peek --json"}}});
  command.add_option("attributes", options->words, "The request's attributes: key=value ...");
  AddServerOption(command, options->server);
  command.add_option("--cost", options->cost, "Units to charge")->capture_default_str();
  command.add_flag("--peek", options->peek, "Judge the request without charging it");
  command.add_flag("--wait", options->wait,
                   "If a rule with shape: true delays the request, answer only when it may go");
  command.add_flag("--json", options->json, "Print the daemon's answer as JSON");
  command.callback([options, &exit_code] { exit_code = Check(*options); });
}

}  // namespace sluice::app
