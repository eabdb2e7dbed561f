#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "net/http_stream.h"
#include "sources/etcd_settings.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::sources {

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
