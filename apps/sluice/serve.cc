#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "command.h"
#include "command_line.h"
#include "daemon.h"
#include "daemon_config.h"
#include "envoy_environment.h"
#include "lifecycle.h"
#include "net/event_loop.h"
#include "sources/files.h"

namespace sluice::app {

namespace {

int Serve(const std::string& file, bool envoy) {
  net::EventLoop control;
  DaemonSignals signals(control);  // Before anything that a signal could meet half made.
  rules::Findings findings;
  std::string text;
  if (!file.empty()) {
    auto read = sources::ReadFile(file);
    if (!read) {
      std::fprintf(stderr, "sluice: %s\n", read.error().Text().c_str());
      return kExitError;
    }
    text = *std::move(read);
  }
  DaemonConfig config = ReadDaemonConfig(text, file, findings);
  if (envoy) {
    ApplyEnvoyEnvironment(ProcessEnvironment(), config.names_listeners, config, findings);
    if (const std::string warning = WarnOfUnheeded(ProcessVariables(), config); !warning.empty()) {
      findings.warnings.push_back({warning, {"environment", 0, 0}});
    }
  }
  for (const Error& warning : findings.warnings) {
    std::fprintf(stderr, "sluice: %s (warning)\n", warning.Text().c_str());
  }
  if (!findings.errors.empty()) {
    for (const Error& error : findings.errors) {
      std::fprintf(stderr, "%s\n", error.Text().c_str());
    }
    return kExitError;
  }
  return RunDaemon(std::move(config), control, signals);
}

}  // namespace

void AddServe(CLI::App& app, int& exit_code) {
  auto file = std::make_shared<std::string>();
  Command& command = AddCommand(
      app, "serve", "Run the daemon",
      {.notes =
           "Without --config: HTTP API on 127.0.0.1:8080, gRPC on 8081, Redis protocol on 6380, "
           "admin on 6070, and no rules.\n\n"
           "Signals: SIGHUP reloads rules and certificates (changed files are also noticed without "
           "it). SIGTERM answers pending requests, then exits with 0.",
       .variables =
           {{"STATE_DIRECTORY",
             "The folder for snapshots, rules put over the API, and modes. systemd sets it. "
             "Without it: /var/lib/sluice for root, else $XDG_STATE_HOME/sluice, else "
             "~/.local/state/sluice"}},
       .examples = {
           {"Serve the rules and listeners of a file", "sluice serve --config sluice.yaml"},
           {"Replace envoyproxy/ratelimit",
            "RUNTIME_ROOT=/srv/ratelimit RUNTIME_SUBDIRECTORY=. sluice serve --envoy"}}});
  command.add_option("--config", *file, "The configuration file")->type_name("FILE");
  auto envoy = std::make_shared<bool>(false);
  command.add_flag("--envoy", *envoy,
                   "Serve as Envoy's rate limit service, configured by the environment variables "
                   "of envoyproxy/ratelimit (docs/envoy.md)");
  command.callback([file, envoy, &exit_code] { exit_code = Serve(*file, *envoy); });
}

}  // namespace sluice::app
