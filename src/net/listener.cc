#include "net/listener.h"

#include <set>
#include <utility>

#include <boost/asio/detail/socket_option.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <fmt/format.h>
#include <sys/socket.h>

#include "net/event_loop.h"
#include "net/tcp_transport.h"

namespace sluice::net {
namespace {

using boost::asio::ip::tcp;
using ReusePort = boost::asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

constexpr int kBacklog = 1024;

// After accept() failed for lack of something (descriptors, memory), which closing
// connections give back: time enough for that, and no spinning meanwhile.
constexpr std::chrono::milliseconds kPause{100};

// Opens and binds. Without `share` it fails where anybody listens already.
boost::system::error_code Bind(tcp::acceptor& acceptor, const tcp::endpoint& address, bool share) {
  boost::system::error_code error;
  acceptor.open(address.protocol(), error);
  if (!error) {
    acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  }
  if (!error) {
    acceptor.set_option(ReusePort(share), error);
  }
  if (!error && address.protocol() == tcp::v6() && address.address().is_unspecified()) {
    acceptor.set_option(boost::asio::ip::v6_only(false), error);
  }
  if (!error) {
    acceptor.bind(address, error);
  }
  return error;
}

tl::unexpected<Error> CannotListen(const tcp::endpoint& address,
                                   const boost::system::error_code& error) {
  return tl::unexpected(Error{
      .message = fmt::format("cannot listen on {}: {}", AddressText(address), error.message())});
}

}  // namespace

Result<void> EnsureFree(const tcp::endpoint& address) {
  boost::asio::io_context unused;
  tcp::acceptor probe(unused);
  if (const auto error = Bind(probe, address, /*share=*/false); error) {
    return CannotListen(address, error);
  }
  return {};
}

// Shared with the accept under way, which may outlive the listener by one turn.
struct Listener::State : std::enable_shared_from_this<Listener::State> {
  State(EventLoop& loop_in, ConnectionLimit& limit_in, OnConnection on_connection_in,
        std::optional<ListenerTls> tls_in)
      : loop(loop_in),
        limit(limit_in),
        on_connection(std::move(on_connection_in)),
        tls(tls_in),
        acceptor(loop.context()),
        pause([this] { Accept(); }) {}

  boost::system::error_code Open(const tcp::endpoint& address) {
    boost::system::error_code error = Bind(acceptor, address, /*share=*/true);
    if (!error) {
      acceptor.listen(kBacklog, error);
    }
    return error;
  }

  void Accept() {
    acceptor.async_accept(
        [self = shared_from_this()](const boost::system::error_code& error, tcp::socket socket) {
          self->OnAccept(error, std::move(socket));
        });
  }

  void OnAccept(const boost::system::error_code& error, tcp::socket socket) {
    if (!acceptor.is_open()) {
      return;
    }
    if (!error) {
      boost::system::error_code gone;
      const tcp::endpoint peer = socket.remote_endpoint(gone);
      if (auto place = gone ? std::nullopt : limit.Take(peer.address())) {
        TakeIn(MakeTcpTransport(std::move(socket), *std::move(place)));
      }  // Else the socket closes here.
    } else if (error != boost::asio::error::connection_aborted) {
      loop.ArmAfter(pause, kPause);
      return;
    }
    if (acceptor.is_open()) {  // on_connection may have closed it.
      Accept();
    }
  }

  void TakeIn(std::unique_ptr<Transport> transport) {
    if (!tls) {
      on_connection(std::move(transport));
      return;
    }
    // Told apart by a cell, since the handshake itself exists only once it has begun.
    auto place = std::make_shared<std::weak_ptr<TlsHandshake>>();
    const auto handshake = TlsHandshake::Begin(
        loop, std::move(transport), tls->context.Get(), {}, tls->handshake_timeout, &tls->counters,
        [self = shared_from_this(), place](Result<std::unique_ptr<Transport>> done) {
          self->handshakes.erase(place->lock());
          if (done && self->acceptor.is_open()) {
            self->on_connection(*std::move(done));
          }
        });
    *place = handshake;
    handshakes.insert(handshake);
  }

  void Close() {
    boost::system::error_code ignored;
    acceptor.close(ignored);
    pause.Cancel();
    for (const auto& handshake : std::exchange(handshakes, {})) {
      handshake->Cancel();
    }
  }

  EventLoop& loop;
  ConnectionLimit& limit;
  OnConnection on_connection;
  const std::optional<ListenerTls> tls;
  std::set<std::shared_ptr<TlsHandshake>> handshakes;  // Under way.
  tcp::acceptor acceptor;
  Timer pause;
};

Listener::Listener(std::shared_ptr<State> state) : state_(std::move(state)) {}

Listener::~Listener() {
  Close();
}

Result<std::unique_ptr<Listener>> Listener::Open(EventLoop& loop, const tcp::endpoint& address,
                                                 ConnectionLimit& limit, OnConnection on_connection,
                                                 std::optional<ListenerTls> tls) {
  auto state = std::make_shared<State>(loop, limit, std::move(on_connection), tls);
  if (const boost::system::error_code error = state->Open(address); error) {
    return CannotListen(address, error);
  }
  state->Accept();
  return std::unique_ptr<Listener>(new Listener(std::move(state)));
}

tcp::endpoint Listener::endpoint() const {
  boost::system::error_code error;
  return state_->acceptor.local_endpoint(error);
}

void Listener::Close() {
  state_->Close();
}

}  // namespace sluice::net
