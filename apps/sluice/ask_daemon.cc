#include "ask_daemon.h"

#include <chrono>
#include <cstdio>

#include "answer_text.h"
#include "base/display_text.h"
#include "exit_code.h"

namespace sluice::app {

int AskDaemon(const std::string& server, const net::HttpCall& call, bool json) {
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
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const auto answer = TellAnswer(reply->body, now);
  if (!answer) {
    std::fprintf(stderr, "sluice: %s\n", TellProblem(reply->status, reply->body).c_str());
    return kExitError;
  }
  std::printf(
      "%s",
      base::DisplayText(json ? reply->body + '\n' : answer->text, base::LineFeeds::kKept).c_str());
  return answer->allowed ? kExitOk : kExitNo;
}

}  // namespace sluice::app
