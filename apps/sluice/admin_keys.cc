#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "answer_text.h"
#include "ask_daemon.h"
#include "command.h"
#include "command_line.h"
#include "wire/json_writer.h"

// What operators do with keys of a running daemon: sluice reset, refund, unban and bans.
namespace sluice::app {

namespace {

struct KeyOptions {
  AdminOptions admin;
  std::vector<std::string> words;
  std::string rule;
  std::int64_t units = 0;
};

struct Verb {
  const char* name;
  const char* title;
  CommandHelp help;
  std::string (*tell)(const std::string& answer);
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
  return AskAdmin(options.admin,
                  {.method = "POST",
                   .target = std::string("/v1/ratelimit/") + verb.name,
                   .content_type = "application/json",
                   .body = body},
                  verb.tell);
}

void Add(CLI::App& app, int& exit_code, const Verb& verb) {
  auto options = std::make_shared<KeyOptions>();
  Command& command = AddCommand(app, verb.name, verb.title, verb.help);
  command.add_option("attributes", options->words, "A request's attributes: key=value ...")
      ->required();
  if (verb.has_units) {
    command.add_option("--units", options->units, "Units to give back to each key")->required();
  }
  command.add_option("--rule", options->rule,
                     "Only the key of this rule; only the attributes of its key are needed");
  AddAdminOptions(command, options->admin);
  command.callback([options, verb, &exit_code] { exit_code = Ask(*options, verb); });
}

}  // namespace

void AddReset(CLI::App& app, int& exit_code) {
  Add(app, exit_code,
      {.name = "reset",
       .title = "Reset the counters of a request's keys",
       .help = {.notes = "Affects the key of every rule that applies to the attributes.",
                .examples = {{"Give a user the full limit again", "sluice reset user_id=u_42"}}},
       .tell = TellReset});
}

void AddRefund(CLI::App& app, int& exit_code) {
  Add(app, exit_code,
      {.name = "refund",
       .title = "Give units back to a request's keys",
       .help =
           {.notes =
                "Affects the key of every rule that applies to the attributes; no key gets more "
                "than its full limit.",
            .examples = {{"Give a user five units back", "sluice refund user_id=u_42 --units 5"}}},
       .tell = TellRefund,
       .has_units = true});
}

void AddUnban(CLI::App& app, int& exit_code) {
  Add(app, exit_code,
      {.name = "unban",
       .title = "Lift the bans of a request's keys",
       .help = {.notes = "Affects the key of every rule that applies to the attributes.",
                .examples = {{"Let an address log in again",
                              "sluice unban ip=192.0.2.7 endpoint=/login method=POST"}}},
       .tell = TellUnban});
}

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
