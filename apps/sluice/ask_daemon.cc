#include "ask_daemon.h"

#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

#include "answer_text.h"
#include "base/display_text.h"
#include "command_line.h"

namespace sluice::app {

namespace {

// nullopt, with a message on stderr, without an answer.
std::optional<net::HttpAnswer> Fetch(const std::string& server, const net::HttpCall& call) {
  const auto url = net::ParseHttpUrl(server);
  auto reply = url ? net::CallHttp(*url, call) : tl::unexpected(url.error());
  if (!reply) {
    std::fprintf(stderr, "sluice: %s\n", reply.error().Text().c_str());
    return std::nullopt;
  }
  return *std::move(reply);
}

int SayError(const std::string& why) {
  std::fprintf(stderr, "sluice: %s\n", why.c_str());
  return kExitError;
}

void Print(const std::string& text) {
  std::printf("%s", base::DisplayText(text, base::LineFeeds::kKept).c_str());
}

// Stores a daemon's answer in `body`. kExitError, with a message on stderr, without an answer.
int FetchAnswer(const AdminOptions& options, const net::HttpCall& call, std::string& body) {
  auto reply = Fetch(options.server, call);
  if (!reply) {
    return kExitError;
  }
  constexpr int kFirstProblem = 300;
  if (!options.if_not_served.empty() && IsNotServed(reply->status, reply->body)) {
    return SayError(options.server + ": " + std::string(options.if_not_served));
  }
  if (reply->status >= kFirstProblem) {
    return SayError(TellProblem(reply->status, reply->body));
  }
  body = std::move(reply->body);
  return kExitOk;
}

}  // namespace

int AskDaemon(const std::string& server, const net::HttpCall& call, bool json) {
  const auto reply = Fetch(server, call);
  if (!reply) {
    return kExitError;
  }
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const auto answer = TellAnswer(reply->body, now);
  if (!answer) {
    return SayError(TellProblem(reply->status, reply->body));
  }
  Print(json ? reply->body + '\n' : answer->text);
  return answer->allowed ? kExitOk : kExitNo;
}

void AddAdminOptions(CLI::App& command, AdminOptions& options) {
  AddAdminOption(command, options.server);
  command.add_flag("--json", options.json, "Print the daemon's answer as JSON");
}

int AskAdmin(const std::string& server, const net::HttpCall& call, std::string& body) {
  return FetchAnswer({.server = server}, call, body);
}

int AskAdmin(const AdminOptions& options, const net::HttpCall& call,
             std::string (*tell)(const std::string& answer)) {
  std::string body;
  const int exit_code = FetchAnswer(options, call, body);
  if (exit_code == kExitOk) {
    Print(options.json ? body + '\n' : tell(body));
  }
  return exit_code;
}

}  // namespace sluice::app
