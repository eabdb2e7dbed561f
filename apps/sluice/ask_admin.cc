#include "ask_admin.h"

#include <cstdio>
#include <utility>

#include "answer_text.h"
#include "base/display_text.h"
#include "exit_code.h"

namespace sluice::app {

int AskAdmin(const std::string& server, const net::HttpCall& call, std::string& body) {
  const auto url = net::ParseHttpUrl(server);
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
  if (reply->status >= kFirstProblem) {
    std::fprintf(stderr, "sluice: %s\n", TellProblem(reply->status, reply->body).c_str());
    return kExitError;
  }
  body = std::move(reply->body);
  return kExitOk;
}

int AskAdmin(const std::string& server, const net::HttpCall& call) {
  std::string body;
  const int exit_code = AskAdmin(server, call, body);
  if (exit_code == kExitOk) {
    std::printf("%s\n", base::DisplayText(body, base::LineFeeds::kKept).c_str());
  }
  return exit_code;
}

int AskAdmin(const AdminOptions& options, const net::HttpCall& call,
             std::string (*tell)(const std::string& answer)) {
  if (options.json) {
    return AskAdmin(options.server, call);
  }
  std::string body;
  const int exit_code = AskAdmin(options.server, call, body);
  if (exit_code == kExitOk) {
    std::printf("%s", base::DisplayText(tell(body), base::LineFeeds::kKept).c_str());
  }
  return exit_code;
}

void AddAdminOptions(CLI::App& command, AdminOptions& options) {
  AddAdminOption(command, options.server);
  command.add_flag("--json", options.json, "Print the daemon's answer as JSON");
}

}  // namespace sluice::app
