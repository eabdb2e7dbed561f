#include "ask_admin.h"

#include <cstdio>

#include "answer_text.h"
#include "exit_code.h"

namespace sluice::app {

int AskAdmin(const std::string& server, const net::HttpCall& call) {
  const auto url = net::ParseHttpUrl(server);
  if (!url) {
    std::fprintf(stderr, "sluice: %s\n", url.error().Text().c_str());
    return kExitError;
  }
  const auto reply = net::CallHttp(*url, call);
  if (!reply) {
    std::fprintf(stderr, "sluice: %s\n", reply.error().Text().c_str());
    return kExitError;
  }
  constexpr int kFirstProblem = 300;
  if (reply->status >= kFirstProblem) {
    std::fprintf(stderr, "sluice: %s\n", TellProblem(reply->status, reply->body).c_str());
    return kExitError;
  }
  std::printf("%s\n", reply->body.c_str());
  return kExitOk;
}

}  // namespace sluice::app
