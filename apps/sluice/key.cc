#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ask_admin.h"
#include "command_line.h"
#include "exit_code.h"
#include "wire/json_writer.h"

// The verbs on keys of a running daemon: sluice reset, sluice refund, sluice unban.
namespace sluice::app {

namespace {

struct KeyOptions {
  std::string server = "http://127.0.0.1:6070";
  std::vector<std::string> words;
  std::string rule;
  std::int64_t units = 0;
};

struct Verb {
  const char* name;
  const char* title;
  const char* footer;
  bool has_units = false;
};

int Ask(const KeyOptions& options, const Verb& verb) {
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
  if (verb.has_units) {
    json.Name("units").Number(options.units);
  }
  json.EndObject();
  return AskAdmin(options.server, {.method = "POST",
                                   .target = std::string("/v1/ratelimit/") + verb.name,
                                   .content_type = "application/json",
                                   .body = body});
}

void Add(CLI::App& app, int& exit_code, const Verb& verb) {
  auto options = std::make_shared<KeyOptions>();
  CLI::App* command = app.add_subcommand(verb.name, verb.title);
  command->footer(verb.footer);
  command->add_option("attributes", options->words, "A request's attributes: key=value ...")
      ->required();
  if (verb.has_units) {
    command->add_option("--units", options->units, "Units to give back to each key")->required();
  }
  command->add_option("--rule", options->rule, "Only this rule's key");
  command->add_option("--server", options->server, "The admin listener")->capture_default_str();
  command->callback([options, verb, &exit_code] { exit_code = Ask(*options, verb); });
}

}  // namespace

void AddReset(CLI::App& app, int& exit_code) {
  Add(app, exit_code,
      {.name = "reset",
       .title = "Reset the counters of a request's keys",
       .footer = "Affects the key of every rule that applies to the attributes.\n"
                 "Exit codes: 0 done, 2 error.\n"
                 "Example: sluice reset user_id=u_42"});
}

void AddRefund(CLI::App& app, int& exit_code) {
  Add(app, exit_code,
      {.name = "refund",
       .title = "Give units back to a request's keys",
       .footer = "Affects the key of every rule that applies to the attributes; no key gets more "
                 "than its "
                 "full limit.\n"
                 "Exit codes: 0 done, 2 error.\n"
                 "Example: sluice refund user_id=u_42 --units 5",
       .has_units = true});
}

void AddUnban(CLI::App& app, int& exit_code) {
  Add(app, exit_code,
      {.name = "unban",
       .title = "Lift the bans of a request's keys",
       .footer = "Affects the key of every rule that applies to the attributes.\n"
                 "Exit codes: 0 done, 2 error.\n"
                 "Example: sluice unban ip=192.0.2.7 endpoint=/login"});
}

}  // namespace sluice::app
