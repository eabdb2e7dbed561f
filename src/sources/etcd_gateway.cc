#include "sources/etcd_gateway.h"

#include <cstddef>
#include <utility>

#include "net/event_loop.h"
#include "sources/etcd_messages.h"
#include "sources/files.h"

namespace sluice::sources {

namespace {

using Failure = net::HttpStream::Failure;

// Of one answer: more than etcd lets anybody write at once.
constexpr std::size_t kMaxAnswer = 256UL * 1024 * 1024;
constexpr int kHttpOk = 200;
constexpr int kFirstServerError = 500;

Result<std::string> ReadPassword(const std::string& path) {
  return ReadFile(path).map([](std::string password) {
    password.erase(password.find_last_not_of("\r\n") + 1);
    return password;
  });
}

}  // namespace

net::HttpStream::Call EtcdGateway::CallTo(std::size_t endpoint, std::string_view path,
                                          std::string body, const std::string& token) const {
  net::HttpStream::Call call{.server = settings_.endpoints[endpoint],
                             .tls = settings_.tls,
                             .target = std::string(path),
                             .fields = {{"Content-Type", "application/json"}},
                             .body = std::move(body),
                             .dial_timeout = settings_.timeout,
                             .answer_timeout = settings_.timeout};
  if (!token.empty()) {
    call.fields.emplace_back("Authorization", token);
  }
  return call;
}

std::shared_ptr<net::HttpStream> EtcdGateway::Ask(net::HttpStream::Call call,
                                                  OnReply on_reply) const {
  const auto body = std::make_shared<std::string>();
  const std::string server = call.server.Text();
  return net::HttpStream::Begin(
      loop_, std::move(call),
      [body](int, std::string_view piece) {
        if (body->size() + piece.size() <= kMaxAnswer) {
          *body += piece;
        }
      },
      [body, server, on_reply = std::move(on_reply)](tl::expected<int, Failure> status) {
        if (!status) {
          on_reply(tl::unexpected(std::move(status.error())));
        } else if (*status != kHttpOk) {
          // A server error may have come after the deed.
          on_reply(tl::unexpected(Failure{.message = server + ": " + etcd::ReasonOf(*body),
                                          .sent = *status >= kFirstServerError}));
        } else {
          on_reply(std::move(*body));
        }
      });
}

void EtcdGateway::LogIn(std::size_t endpoint, std::shared_ptr<net::HttpStream>& stream,
                        OnReply on_token) const {
  if (settings_.username.empty()) {
    on_token(std::string());
    return;
  }
  const auto password = ReadPassword(settings_.password_file);
  if (!password) {
    on_token(tl::unexpected(Failure{.message = password.error().Text(), .sent = false}));
    return;
  }
  stream =
      Ask(CallTo(endpoint, "/v3/auth/authenticate",
                 etcd::AuthenticateRequest(settings_.username, *password), ""),
          [on_token = std::move(on_token)](Reply reply) {
            if (!reply) {
              reply.error().sent = false;  // A login writes no rule.
              on_token(std::move(reply));
            } else if (auto token = etcd::ReadToken(*reply); token) {
              on_token(*std::move(token));
            } else {
              on_token(tl::unexpected(Failure{.message = token.error().message, .sent = false}));
            }
          });
}

}  // namespace sluice::sources
