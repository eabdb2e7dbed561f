#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/local/stream_protocol.hpp>

#include "sluice/time.h"

#include "net/event_loop.h"

namespace sluice::support {

// Stands between a client and a server, both on Unix sockets, and carries bytes as a bad network
// does. On the client's loop, so that a test says what happens in what order. One thread.
class RedisProxy {
 public:
  // Listens on `path`, which must not be there yet. `loop` outlives it.
  RedisProxy(net::EventLoop& loop, std::string server, const std::string& path);
  ~RedisProxy();
  RedisProxy(const RedisProxy&) = delete;
  RedisProxy& operator=(const RedisProxy&) = delete;

  // From now on what the server says comes this much later.
  void DelayReplies(Duration by) { delay_ = by; }
  // Ends the connection once this many more bytes of replies have gone through.
  void CutAfter(std::size_t bytes) { left_ = bytes; }
  [[nodiscard]] bool cuts() const { return left_.has_value(); }
  // Ends all connections.
  void Cut();

 private:
  class Pair;

  void Accept();

  net::EventLoop& loop_;
  const std::string server_;
  boost::asio::local::stream_protocol::acceptor acceptor_;
  boost::asio::local::stream_protocol::socket next_;
  std::list<std::weak_ptr<Pair>> pairs_;
  Duration delay_{};
  std::optional<std::size_t> left_;
};

}  // namespace sluice::support
