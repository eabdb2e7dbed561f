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

}  // namespace sluice::app
