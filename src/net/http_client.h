#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;  // At most 8 MiB: more is an error.

  // The first field of this name (any case), or "".
  [[nodiscard]] std::string_view Field(std::string_view name) const;
};

// One blocking request over its own connection: for the command line, not for the daemon. An answer
// of any status is an answer; Error is for not getting one. Any thread.
[[nodiscard]] Result<HttpAnswer> CallHttp(const HttpUrl& server, const HttpCall& call);

}  // namespace sluice::net
