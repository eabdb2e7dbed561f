#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "sluice/time.h"

#include "net/dial.h"
#include "net/http_stream.h"
#include "net/tls_context.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::sources {

struct EtcdSettings {
  std::vector<net::DialTarget> endpoints{};      // Any of them will do; not empty.
  std::string prefix = "/ratelimit/rules/";      // A rule's key is this and its id.
  std::shared_ptr<const net::TlsContext> tls{};  // nullptr: none.
  std::string username{};                        // "": etcd requires no authentication.
  std::string password_file{};  // Read at every login, so that passwords can be changed.
  Duration timeout = std::chrono::seconds(5);                // Of one call.
  Duration audit_interval = std::chrono::seconds(10);        // Between looks behind the watch.
  Duration shortest_pause = std::chrono::milliseconds(100);  // Before a new attempt; doubles
  Duration longest_pause = std::chrono::seconds(2);          // up to this.
  Duration settle = std::chrono::milliseconds(20);           // So many changes are one.
};

// Calls to etcd's own HTTP gateway, JSON over POST. One thread, the loop's.
class EtcdGateway {
 public:
  using Reply = tl::expected<std::string, net::HttpStream::Failure>;
  using OnReply = std::function<void(Reply)>;

  // Both outlive it.
  EtcdGateway(net::EventLoop& loop, const EtcdSettings& settings)
      : loop_(loop), settings_(settings) {}

  [[nodiscard]] net::HttpStream::Call CallTo(std::size_t endpoint, std::string_view path,
                                             std::string body, const std::string& token) const;
  // Asks once, and gives the body of an answer of 200.
  [[nodiscard]] std::shared_ptr<net::HttpStream> Ask(net::HttpStream::Call call,
                                                     OnReply on_reply) const;
  // Gives a token, "" where there are no users; then `stream` is what it waits for.
  void LogIn(std::size_t endpoint, std::shared_ptr<net::HttpStream>& stream,
             OnReply on_token) const;

 private:
  net::EventLoop& loop_;
  const EtcdSettings& settings_;
};

}  // namespace sluice::sources
