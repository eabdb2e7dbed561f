#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "sluice/result.h"

namespace sluice::net {

// "http://host:port/prefix": where a server is. Port 80 by default; https is refused (no
// TLS here yet).
struct HttpUrl {
  std::string host;
  std::string port;
  std::string prefix;  // Without a slash at the end; often "".
};
[[nodiscard]] Result<HttpUrl> ParseHttpUrl(std::string_view text);

struct HttpCall {
  std::string method = "GET";
  std::string target = "/";  // Behind the URL's prefix, percent-encoded already.
  std::string content_type{};
  std::string bearer_token{};  // "": none is sent.
  std::string body{};
  std::chrono::milliseconds timeout{5000};  // For all of it: look-up, connection, answer.
};

struct HttpAnswer {
  int status = 0;
  std::string body;  // At most 8 MiB: more is an error.
};

// One blocking request over its own connection and loop (net/http_stream.h): for the command line,
// not for the daemon. An answer of any status is an answer; Error is for not getting one. Any
// thread.
[[nodiscard]] Result<HttpAnswer> CallHttp(const HttpUrl& server, const HttpCall& call);

}  // namespace sluice::net
