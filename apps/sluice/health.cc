#include <cstdio>
#include <memory>
#include <string>

#include "answer_text.h"
#include "command.h"
#include "command_line.h"
#include "exit_code.h"
#include "net/http_client.h"

// sluice health.
namespace sluice::app {

namespace {

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
