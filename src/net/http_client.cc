#include "net/http_client.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/fault.h"
#include "net/event_loop.h"
#include "net/http_stream.h"

namespace sluice::net {

namespace {

constexpr std::size_t kMaxBody = 8 * 1024 * 1024;

HttpStream::Call RequestOf(const HttpUrl& server, const HttpCall& call) {
  HttpStream::Call request{.server = {.host = server.host, .port = server.port},
                           .method = call.method,
                           .target = server.prefix + call.target,
                           .body = call.body,
                           .dial_timeout = call.timeout,
                           .answer_timeout = call.timeout};
  if (!call.content_type.empty()) {
    request.fields.emplace_back("Content-Type", call.content_type);
  }
  if (!call.bearer_token.empty()) {
    request.fields.emplace_back("Authorization", "Bearer " + call.bearer_token);
  }
  return request;
}

}  // namespace

Result<HttpUrl> ParseHttpUrl(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return tl::unexpected(
        Error{.message = fmt::format("`{}` {}; write http://127.0.0.1:8080", text, why)});
  };
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    return bad("is an https URL, which is not supported yet");
  }
  if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else if (rest.find("://") != std::string_view::npos) {
    return bad("has a scheme that is not http");
  }
  HttpUrl url{.host = {}, .port = "80", .prefix = {}};
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  url.prefix = rest.substr(slash);
  while (url.prefix.ends_with('/')) {
    url.prefix.pop_back();
  }
  rest = rest.substr(0, slash);
  const bool bracketed = rest.starts_with('[');
  const std::size_t host_end = bracketed ? rest.find(']') : std::min(rest.find(':'), rest.size());
  if (host_end == std::string_view::npos) {
    return bad("has an unbalanced bracket");
  }
  url.host = bracketed ? rest.substr(1, host_end - 1) : rest.substr(0, host_end);
  rest.remove_prefix(bracketed ? host_end + 1 : host_end);
  if (!rest.empty()) {
    unsigned short port = 0;
    const char* const last = rest.data() + rest.size();
    const auto [end, error] = std::from_chars(rest.data() + 1, last, port);
    if (rest.front() != ':' || error != std::errc() || end != last || port == 0) {
      return bad("has an invalid port");
    }
    url.port = rest.substr(1);
  }
  const bool clean = std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
  if (url.host.empty() || !clean || text.find_first_of("@?#") != std::string_view::npos) {
    return bad("is not the URL of a server");
  }
  return url;
}

Result<HttpAnswer> CallHttp(const HttpUrl& server, const HttpCall& call) {
  Result<HttpAnswer> answer = HttpAnswer();
  EventLoop loop;
  const auto stream = HttpStream::Begin(
      loop, RequestOf(server, call),
      [&](int /*status*/, std::string_view piece) {
        if (!answer) {
          return;  // Pieces that arrived with the one that was too many.
        }
        answer->body += piece;
        if (answer->body.size() > kMaxBody) {
          answer = Fault(fmt::format("the answer of {}:{} is longer than {} MiB", server.host,
                                     server.port, kMaxBody >> 20U));
          loop.Stop();
        }
      },
      [&](tl::expected<int, HttpStream::Failure> end) {
        if (answer && end) {
          answer->status = *end;
        } else if (answer) {
          answer = Fault(std::move(end.error().message));
        }
        loop.Stop();
      });
  loop.Run();
  stream->Cancel();
  loop.Poll();  // What was under way lets go of the stream while its loop is there.
  return answer;
}

}  // namespace sluice::net
