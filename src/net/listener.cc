#include "net/listener.h"

#include <cerrno>
#include <set>
#include <type_traits>
#include <utility>

#include <boost/asio/detail/socket_option.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fault.h"
#include "net/event_loop.h"
#include "net/tcp_transport.h"

namespace sluice::net {
namespace {

using boost::asio::ip::tcp;
using Local = boost::asio::local::stream_protocol;
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
  return Fault(fmt::format("cannot listen on {}: {}", AddressText(address), error.message()));
}

// By which a connection is counted. Peers on a Unix socket have no address, and none other is this.
boost::asio::ip::address AddressOf(const tcp::endpoint& peer) {
  return peer.address();
}
boost::asio::ip::address AddressOf(const Local::endpoint& /*peer*/) {
  return boost::asio::ip::address_v4::any();
}

std::unique_ptr<Transport> MakeTransport(tcp::socket socket, ConnectionPlace place) {
  return MakeTcpTransport(std::move(socket), std::move(place));
}
std::unique_ptr<Transport> MakeTransport(Local::socket socket, ConnectionPlace place) {
  return MakeUnixTransport(std::move(socket), std::move(place));
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
class Listener::State {
 public:
  virtual ~State() = default;
  [[nodiscard]] virtual tcp::endpoint endpoint() const = 0;
  virtual void Close() = 0;
};

template <class Protocol>
class Listener::StateOf final : public State,
                                public std::enable_shared_from_this<StateOf<Protocol>> {
 public:
  using Acceptor = typename Protocol::acceptor;
  using Socket = typename Protocol::socket;

  StateOf(EventLoop& loop, ConnectionLimit& limit, OnConnection on_connection,
          std::optional<ListenerTls> tls)
      : loop_(loop),
        limit_(limit),
        on_connection_(std::move(on_connection)),
        tls_(tls),
        acceptor_(loop.context()),
        pause_([this] { Accept(); }) {}

  // To be made ready before Accept().
  [[nodiscard]] Acceptor& acceptor() { return acceptor_; }

  [[nodiscard]] tcp::endpoint endpoint() const override {
    boost::system::error_code error;
    if constexpr (std::is_same_v<Protocol, tcp>) {
      return acceptor_.local_endpoint(error);
    } else {
      return {};
    }
  }

  void Accept() {
    acceptor_.async_accept(
        [self = this->shared_from_this()](const boost::system::error_code& error, Socket socket) {
          self->OnAccept(error, std::move(socket));
        });
  }

  void Close() override {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    pause_.Cancel();
    for (const auto& handshake : std::exchange(handshakes_, {})) {
      handshake->Cancel();
    }
  }

 private:
  void OnAccept(const boost::system::error_code& error, Socket socket) {
    if (!acceptor_.is_open()) {
      return;
    }
    if (!error) {
      boost::system::error_code gone;
      const auto peer = socket.remote_endpoint(gone);
      if (auto place = gone ? std::nullopt : limit_.Take(AddressOf(peer))) {
        TakeIn(MakeTransport(std::move(socket), *std::move(place)));
      }  // Else the socket closes here.
    } else if (error != boost::asio::error::connection_aborted) {
      loop_.ArmAfter(pause_, kPause);
      return;
    }
    if (acceptor_.is_open()) {  // on_connection may have closed it.
      Accept();
    }
  }

  void TakeIn(std::unique_ptr<Transport> transport) {
    if (!tls_) {
      on_connection_(std::move(transport));
      return;
    }
    // Identified by a cell, because the handshake itself exists only once it has begun.
    auto place = std::make_shared<std::weak_ptr<TlsHandshake>>();
    const auto handshake = TlsHandshake::Begin(
        loop_, std::move(transport), tls_->context.Get(), {}, tls_->handshake_timeout,
        &tls_->counters,
        [self = this->shared_from_this(), place](Result<std::unique_ptr<Transport>> done) {
          self->handshakes_.erase(place->lock());
          if (done && self->acceptor_.is_open()) {
            self->on_connection_(*std::move(done));
          }
        });
    *place = handshake;
    handshakes_.insert(handshake);
  }

  EventLoop& loop_;
  ConnectionLimit& limit_;
  OnConnection on_connection_;
  const std::optional<ListenerTls> tls_;
  std::set<std::shared_ptr<TlsHandshake>> handshakes_;  // Under way.
  Acceptor acceptor_;
  Timer pause_;
};

Listener::Listener(std::shared_ptr<State> state) : state_(std::move(state)) {}

Listener::~Listener() {
  Close();
}

Result<std::unique_ptr<Listener>> Listener::Open(EventLoop& loop, const tcp::endpoint& address,
                                                 ConnectionLimit& limit, OnConnection on_connection,
                                                 std::optional<ListenerTls> tls) {
  auto state = std::make_shared<StateOf<tcp>>(loop, limit, std::move(on_connection), tls);
  boost::system::error_code error = net::Bind(state->acceptor(), address, /*share=*/true);
  if (!error) {
    state->acceptor().listen(kBacklog, error);
  }
  if (error) {
    return CannotListen(address, error);
  }
  state->Accept();
  return std::unique_ptr<Listener>(new Listener(std::move(state)));
}

Result<std::unique_ptr<Listener>> Listener::Open(EventLoop& loop, const UnixSocket& socket,
                                                 ConnectionLimit& limit, OnConnection on_connection,
                                                 std::optional<ListenerTls> tls) {
  auto state = std::make_shared<StateOf<Local>>(loop, limit, std::move(on_connection), tls);
  // Each loop waits on its own descriptor for the shared queue of connections: who comes too late
  // for one waits on.
  const int own = ::fcntl(socket.fd_, F_DUPFD_CLOEXEC, 0);
  boost::system::error_code error;
  if (own < 0) {
    error.assign(errno, boost::system::system_category());
  } else {
    state->acceptor().assign(Local(), own, error);
  }
  if (error) {
    return Fault(fmt::format("cannot listen on unix:{}: {}", socket.path_, error.message()));
  }
  state->Accept();
  return std::unique_ptr<Listener>(new Listener(std::move(state)));
}

tcp::endpoint Listener::endpoint() const {
  return state_->endpoint();
}

void Listener::Close() {
  state_->Close();
}

}  // namespace sluice::net
