#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "answer_text.h"
#include "ask_daemon.h"
#include "command.h"
#include "command_line.h"
#include "net/http_client.h"
#include "wire/json_writer.h"

// What callers ask a daemon: sluice check, status, release and health.
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
  return AskDaemon(options.server,
                   {.target = RequestTarget("/v1/ratelimit/status", options.cost, attributes)},
                   options.json);
}

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

// Docker knows only 0 and 1, so an unreachable daemon counts as not ready.
int Health(const std::string& server, bool quiet) {
  const auto url = net::ParseHttpUrl(server);
  if (!url) {
    std::fprintf(stderr, "sluice: %s\n", url.error().Text().c_str());
    return kExitError;
  }
  const auto reply = net::CallHttp(*url, {.target = "/readyz"});
  if (!reply) {
    std::fprintf(stderr, "sluice: not ready: %s\n", reply.error().Text().c_str());
    return kExitNo;
  }
  constexpr int kOk = 200;
  if (reply->status != kOk) {
    std::fprintf(stderr, "sluice: not ready: %s\n",
                 TellProblem(reply->status, reply->body).c_str());
    return kExitNo;
  }
  if (!quiet) {
    std::printf("ready\n");
  }
  return kExitOk;
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

void AddStatus(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<StatusOptions>();
  Command& command = AddCommand(
      app, "status", "Ask a daemon what is left, without charging",
      {.notes =
           "On an admin listener, a secret attribute may be given by its hash (docs/rules.md).\n\n"
           "A status is what applications may ask too. For why a request is denied, and what else "
           "is known of its keys, use sluice why.",
       .exit_codes = "0 the cost would be allowed, 1 it would be denied, 2 error",
       .examples = {{"What is left for a user", "sluice status user_id=u_42 plan=pro"}}});
  command.add_option("attributes", options->words, "The request's attributes: key=value ...");
  AddServerOption(command, options->server);
  command.add_option("--cost", options->cost, "Cost to judge")->capture_default_str();
  command.add_flag("--json", options->json, "Print the daemon's answer as JSON");
  command.callback([options, &exit_code] { exit_code = Status(*options); });
}

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

void AddHealth(CLI::App& app, int& exit_code) {
  struct Options {
    std::string server;
    bool quiet = false;
  };
  auto options = std::make_shared<Options>();
  Command& command = AddCommand(
      app, "health", "Check whether a daemon is ready for requests",
      {.notes = "A health check for containers without curl. Works with any listener without TLS.",
       .exit_codes = "0 ready, 1 not ready or not reachable, 2 wrong command line",
       .examples = {{"A container's health check", "sluice health --quiet"}}});
  AddServerOption(command, options->server);
  command.add_flag("--quiet", options->quiet, "Print nothing if the daemon is ready");
  command.callback([options, &exit_code] { exit_code = Health(options->server, options->quiet); });
}

}  // namespace sluice::app
