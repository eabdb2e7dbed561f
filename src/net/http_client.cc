#include "net/http_client.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include "base/fault.h"

namespace sluice::net {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::uint64_t kMaxBody = 8 * 1024 * 1024;

// Beast's timeouts work with asynchronous calls only, so the call is a chain of those on its own
// loop, which runs until the chain ends or the time is up.
class Exchange {
 public:
  Exchange(const HttpUrl& server, const HttpCall& call)
      : server_(server), timeout_(call.timeout), resolver_(context_), stream_(context_) {
    request_.method_string(call.method);
    request_.target(server.prefix + call.target);
    request_.version(11);
    const bool six = server.host.find(':') != std::string::npos;
    const std::string host = six ? "[" + server.host + "]" : server.host;
    request_.set(http::field::host, server.port == "80" ? host : host + ":" + server.port);
    request_.set(http::field::user_agent, "sluice");
    request_.set(http::field::connection, "close");
    if (!call.content_type.empty()) {
      request_.set(http::field::content_type, call.content_type);
    }
    if (!call.bearer_token.empty()) {
      request_.set(http::field::authorization, "Bearer " + call.bearer_token);
    }
    request_.body() = call.body;
    request_.prepare_payload();
    parser_.body_limit(kMaxBody);
  }

  Result<HttpAnswer> Run() {
    resolver_.async_resolve(server_.host, server_.port,
                            [this](const error_code& error, const tcp::resolver::results_type& r) {
                              error ? Fail("look up", error) : Connect(r);
                            });
    context_.run_for(timeout_);
    if (!done_) {
      return Failed("reach", fmt::format("no answer within {} ms", timeout_.count()));
    }
    if (failure_) {
      return tl::unexpected(*failure_);
    }
    HttpAnswer answer;
    const auto& response = parser_.get();
    answer.status = static_cast<int>(response.result_int());
    for (const auto& field : response) {
      answer.fields.emplace_back(std::string(field.name_string()), std::string(field.value()));
    }
    answer.body = response.body();
    return answer;
  }

 private:
  void Connect(const tcp::resolver::results_type& endpoints) {
    stream_.async_connect(endpoints, [this](const error_code& error, const tcp::endpoint&) {
      error ? Fail("connect to", error) : Write();
    });
  }
  void Write() {
    http::async_write(stream_, request_, [this](const error_code& error, std::size_t) {
      error ? Fail("send to", error) : Read();
    });
  }
  void Read() {
    http::async_read(stream_, buffer_, parser_, [this](const error_code& error, std::size_t) {
      if (error) {
        Fail("read the answer of", error);
      }
      done_ = true;
    });
  }

  tl::unexpected<Error> Failed(std::string_view what, std::string_view why) const {
    return Fault(fmt::format("cannot {} {}:{}: {}", what, server_.host, server_.port, why));
  }
  void Fail(std::string_view what, const error_code& error) {
    failure_ = Failed(what, error.message()).value();
    done_ = true;
  }

  const HttpUrl& server_;
  const std::chrono::milliseconds timeout_;
  boost::asio::io_context context_;
  tcp::resolver resolver_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response_parser<http::string_body> parser_;
  bool done_ = false;
  std::optional<Error> failure_;
};

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

std::string_view HttpAnswer::Field(std::string_view name) const {
  for (const auto& [field, value] : fields) {
    if (beast::iequals(field, name)) {
      return value;
    }
  }
  return {};
}

Result<HttpAnswer> CallHttp(const HttpUrl& server, const HttpCall& call) {
  try {
    return Exchange(server, call).Run();
  } catch (const std::exception& problem) {  // Beast throws for a method or target it refuses.
    return Fault(fmt::format("cannot call {}:{}: {}", server.host, server.port, problem.what()));
  }
}

}  // namespace sluice::net
