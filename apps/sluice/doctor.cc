#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "command.h"
#include "command_line.h"
#include "doctor/checks.h"
#include "doctor/gather.h"
#include "doctor/report.h"

// sluice doctor.
namespace sluice::app {

namespace {

struct DoctorOptions {
  doctor::Sources sources;
  bool json = false;
};

int Doctor(const DoctorOptions& options) {
  const doctor::Gathered gathered = doctor::Gather(options.sources);
  const doctor::FindingList findings = doctor::CheckAll(gathered.facts);
  const std::string report = options.json ? doctor::ReportJson(gathered, findings)
                                          : doctor::ReportText(gathered, findings);
  std::fputs(report.c_str(), stdout);
  if (!gathered.failed.empty()) {
    return kExitError;
  }
  const bool all_notes = std::ranges::all_of(findings, [](const doctor::Finding& finding) {
    return finding.severity == doctor::Severity::kNote;
  });
  return all_notes ? kExitOk : kExitNo;
}

}  // namespace

void AddDoctor(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<DoctorOptions>();
  Command& command = AddCommand(
      app, "doctor", "Look for what is wrong or risky, and say what to do about it",
      {.notes =
           "Changes nothing. Each finding says what was seen, what follows and what to do; "
           "docs/doctor.md explains all of them.\n\nWith --config, the daemon is asked that the "
           "configuration's admin listener belongs to, unless --server names another.\n\nA problem "
           "is wrong now, a warning will be or cannot be meant, a note is right if it is meant.",
       .exit_codes = "0 nothing wrong (notes are possible), 1 problems or warnings, 2 something "
                     "could not be looked at",
       .examples = {{"Look at a running daemon", "sluice doctor"},
                    {"Look at a configuration, its rules and the daemon that runs with it",
                     "sluice doctor --config sluice.yaml"},
                    {"Look at a configuration before a daemon runs with it",
                     "sluice doctor --config sluice.yaml --offline"}}});
  command.add_option("--config", options->sources.configuration, "The daemon's configuration")
      ->type_name("FILE");
  AddAdminOption(command, options->sources.server);
  auto* const server = command.get_option("--server");
  command
      .add_option("--token-file", options->sources.token_file,
                  "The file with the admin listener's token; without it: as the configuration says")
      ->type_name("FILE");
  command
      .add_option("--nginx", options->sources.nginx,
                  "A configuration of NGINX, whose locations ask Sluice by auth_request")
      ->type_name("FILE");
  command.add_flag("--offline", options->sources.offline, "Ask no daemon and no Redis");
  command.add_flag("--json", options->json, "Print the report as JSON");
  command.callback([options, server, &exit_code] {
    if (server->count() == 0 && !options->sources.configuration.empty()) {
      options->sources.server.clear();  // The configuration says where.
    }
    exit_code = Doctor(*options);
  });
}

}  // namespace sluice::app
