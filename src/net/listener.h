#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/ip/tcp.hpp>

#include "sluice/result.h"

#include "net/connection_limit.h"
#include "net/tls_context.h"
#include "net/tls_transport.h"
#include "net/transport.h"
#include "net/unix_socket.h"

namespace sluice::net {

class EventLoop;

// "127.0.0.1:8080", "[::1]:0", "*:8080" or ":8080" (every IPv4 and IPv6 address). Names are
// not looked up, but localhost is 127.0.0.1.
[[nodiscard]] Result<boost::asio::ip::tcp::endpoint> ParseAddress(std::string_view text);
[[nodiscard]] std::string AddressText(const boost::asio::ip::tcp::endpoint& endpoint);

// Whether `address` is free to be listened on. Asked before the first listener of a process:
// SO_REUSEPORT would let two processes of one user share a port without a word, each with a
// part of the connections. Port 0 always is.
[[nodiscard]] Result<void> EnsureFree(const boost::asio::ip::tcp::endpoint& address);

// TLS for all clients. What it refers to outlives the listener.
struct ListenerTls {
  const CurrentTlsContext& context;  // Asked for each new connection.
  TlsCounters& counters;
  Duration handshake_timeout = std::chrono::seconds(10);
};

// Accepts connections on one address for one loop. Several loops may listen on one address
// (SO_REUSEPORT): the kernel spreads connections over them. For port 0 open the first, then
// the others on its endpoint(). One thread: the loop's, or before it runs.
class Listener {
 public:
  using OnConnection = std::function<void(std::unique_ptr<Transport>)>;

  // Listens at once. A connection above `limit` is closed as it comes; each transport gives
  // its place back when it is destroyed, so `limit` outlives them all. With `tls`, on_connection
  // hears of a connection when its handshake is done; one that fails is closed and counted.
  [[nodiscard]] static Result<std::unique_ptr<Listener>> Open(
      EventLoop& loop, const boost::asio::ip::tcp::endpoint& address, ConnectionLimit& limit,
      OnConnection on_connection, std::optional<ListenerTls> tls = std::nullopt);

  // The same on a Unix socket, whose loops take connections as they come to them. All of its peers
  // count as one.
  [[nodiscard]] static Result<std::unique_ptr<Listener>> Open(
      EventLoop& loop, const UnixSocket& socket, ConnectionLimit& limit, OnConnection on_connection,
      std::optional<ListenerTls> tls = std::nullopt);

  ~Listener();

  // Of TCP: the address with the port that was bound.
  [[nodiscard]] boost::asio::ip::tcp::endpoint endpoint() const;

  // Accepts no more, and ends handshakes under way. Idempotent. Connections live on.
  void Close();

 private:
  class State;
  template <class Protocol>
  class StateOf;
  explicit Listener(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace sluice::net
