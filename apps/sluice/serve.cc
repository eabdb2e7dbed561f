#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "command_line.h"
#include "daemon.h"
#include "daemon_config.h"
#include "exit_code.h"
#include "files.h"

namespace sluice::app {

namespace {

int Serve(const std::string& file) {
  rules::Findings findings;
  std::string text;
  if (!file.empty()) {
    auto read = ReadFile(file);
    if (!read) {
      std::fprintf(stderr, "sluice: %s\n", read.error().Text().c_str());
      return kExitError;
    }
    text = *std::move(read);
  }
  DaemonConfig config = ReadDaemonConfig(text, file, findings);
  for (const Error& warning : findings.warnings) {
    std::fprintf(stderr, "sluice: %s (warning)\n", warning.Text().c_str());
  }
  if (!findings.errors.empty()) {
    for (const Error& error : findings.errors) {
      std::fprintf(stderr, "%s\n", error.Text().c_str());
    }
    return kExitError;
  }
  return RunDaemon(std::move(config));
}

}  // namespace

void AddServe(CLI::App& app, int& exit_code) {
  auto file = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("serve", "Run the daemon");
  command->footer(
      "Without --config it serves checks on 127.0.0.1:8080 and operators on 127.0.0.1:6070.\n"
      "Signals: SIGHUP reads the rules again; SIGTERM answers what was asked and ends with 0.");
  command->add_option("--config", *file, "The configuration file");
  command->callback([file, &exit_code] { exit_code = Serve(*file); });
}

}  // namespace sluice::app
