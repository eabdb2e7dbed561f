#include "ask_admin.h"

#include <cstdio>
#include <utility>

#include "answer_text.h"
#include "base/display_text.h"
#include "exit_code.h"

namespace sluice::app {

namespace {

// Stores a daemon's answer in `body`. kExitError, with a message on stderr, without an answer.
int FetchAnswer(const AdminOptions& options, const net::HttpCall& call, std::string& body) {
  const auto url = net::ParseHttpUrl(options.server);
  if (!url) {
    std::fprintf(stderr, "sluice: %s\n", url.error().Text().c_str());
    return kExitError;
  }
  auto reply = net::CallHttp(*url, call);
  if (!reply) {
    std::fprintf(stderr, "sluice: %s\n", reply.error().Text().c_str());
    return kExitError;
  }
  constexpr int kFirstProblem = 300;
  if (!options.if_not_served.empty() && IsNotServed(reply->status, reply->body)) {
    std::fprintf(stderr, "sluice: %s: %s\n", options.server.c_str(),
                 std::string(options.if_not_served).c_str());
    return kExitError;
  }
  if (reply->status >= kFirstProblem) {
    std::fprintf(stderr, "sluice: %s\n", TellProblem(reply->status, reply->body).c_str());
    return kExitError;
  }
  body = std::move(reply->body);
  return kExitOk;
}

}  // namespace

int AskAdmin(const std::string& server, const net::HttpCall& call, std::string& body) {
  return FetchAnswer({.server = server}, call, body);
}

int AskAdmin(const AdminOptions& options, const net::HttpCall& call,
             std::string (*tell)(const std::string& answer)) {
  std::string body;
  const int exit_code = FetchAnswer(options, call, body);
  if (exit_code == kExitOk) {
    const std::string text = options.json ? body + '\n' : tell(body);
    std::printf("%s", base::DisplayText(text, base::LineFeeds::kKept).c_str());
  }
  return exit_code;
}

void AddAdminOptions(CLI::App& command, AdminOptions& options) {
  AddAdminOption(command, options.server);
  command.add_flag("--json", options.json, "Print the daemon's answer as JSON");
}

}  // namespace sluice::app
