#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "answer_text.h"
#include "ask_daemon.h"
#include "command.h"
#include "command_line.h"
#include "wire/json_writer.h"

// Operators' commands for Envoy's counters in a running daemon: sluice envoy usage, sluice envoy
// reset.
namespace sluice::app {

namespace {

constexpr std::string_view kNotServed =
    "this daemon has no Envoy limits: start it with sluice serve --envoy, or with envoy: in its "
    "configuration, and give its admin listener as --server";

struct EnvoyOptions {
  AdminOptions admin;
  std::string domain;
  std::vector<std::string> words;
};

int Ask(const EnvoyOptions& options, const std::string& path,
        std::string (*tell)(const std::string& answer)) {
  std::vector<Attribute> entries;
  if (!ReadAttributes(options.words, entries)) {
    return kExitError;
  }
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  json.Name("domain").Text(options.domain);
  json.Name("descriptors").BeginArray();
  json.BeginObject();
  json.Name("entries").BeginArray();
  for (const Attribute& entry : entries) {
    json.BeginObject();
    json.Name("key").Text(entry.name);
    json.Name("value").Text(entry.value);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  json.EndArray();
  json.EndObject();
  return AskAdmin(
      options.admin,
      {.method = "POST", .target = path, .content_type = "application/json", .body = body}, tell);
}

void AddVerb(CLI::App& parent, const std::string& verb, const std::string& what,
             std::string (*tell)(const std::string& answer), int& exit_code) {
  auto options = std::make_shared<EnvoyOptions>();
  Command& command =
      AddCommand(parent, verb, what,
                 {.notes = "Give the entries of one descriptor, in order.",
                  .examples = {{what, "sluice envoy " + verb + " shop remote_address=192.0.2.7"}}});
  command.add_option("domain", options->domain, "The domain")->required();
  command.add_option("entries", options->words, "The descriptor's entries: key=value ...")
      ->required();
  AddAdminOptions(command, options->admin);
  options->admin.if_not_served = kNotServed;
  command.callback(
      [options, verb, tell, &exit_code] { exit_code = Ask(*options, "/rl" + verb, tell); });
}

}  // namespace

int AskEnvoyUsage(const AdminOptions& options, const std::string& domain,
                  const std::vector<std::string>& words) {
  EnvoyOptions envoy{.admin = options, .domain = domain, .words = words};
  envoy.admin.if_not_served = kNotServed;
  return Ask(envoy, "/rlusage", TellUsage);
}

void AddEnvoy(CLI::App& app, int& exit_code) {
  Command& command = AddCommand(app, "envoy", "Show or reset the counters of Envoy's descriptors",
                                {.notes = "The daemon must run with --envoy."});
  command.require_subcommand(1);
  AddVerb(command, "usage", "Show what is left of a descriptor's limits, without charging",
          TellUsage, exit_code);
  AddVerb(command, "reset", "Reset a descriptor's counters", TellReset, exit_code);
}

}  // namespace sluice::app
