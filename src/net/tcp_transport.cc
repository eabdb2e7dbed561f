#include "net/tcp_transport.h"

#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>

namespace sluice::net {
namespace {

using boost::asio::ip::tcp;
using Local = boost::asio::local::stream_protocol;

std::string PeerOf(const tcp::socket& socket) {
  boost::system::error_code error;
  const tcp::endpoint peer = socket.remote_endpoint(error);
  if (error) {
    return {};  // It has gone already; the first read says so.
  }
  boost::asio::ip::address address = peer.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6());
  }
  return address.to_string();
}

std::string PeerOf(const Local::socket& /*socket*/) {
  return "unix";
}

void SwitchOffDelay(tcp::socket& socket) {
  boost::system::error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
}
void SwitchOffDelay(Local::socket& /*socket*/) {}

// Asio keeps the memory of completion handlers and uses it again, so a turn allocates
// nothing once warm.
template <class Socket>
class SocketTransport final : public Transport {
 public:
  SocketTransport(Socket socket, ConnectionPlace place)
      : place_(std::move(place)), socket_(std::move(socket)), peer_address_(PeerOf(socket_)) {
    SwitchOffDelay(socket_);
  }

  void Read(std::span<char> into, std::shared_ptr<TransportUser> user) override {
    socket_.async_read_some(
        boost::asio::buffer(into.data(), into.size()),
        [user = std::move(user)](const boost::system::error_code& error, std::size_t size) {
          user->OnRead(error, size);
        });
  }

  void Write(std::string_view bytes, std::shared_ptr<TransportUser> user) override {
    boost::asio::async_write(socket_, boost::asio::buffer(bytes.data(), bytes.size()),
                             [user = std::move(user)](const boost::system::error_code& error,
                                                      std::size_t) { user->OnWritten(error); });
  }

  void ShutdownWrite() noexcept override {
    boost::system::error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
  }

  void Close() noexcept override {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

  [[nodiscard]] std::string_view peer_address() const override { return peer_address_; }

 private:
  ConnectionPlace place_;
  Socket socket_;
  std::string peer_address_;
};

}  // namespace

std::unique_ptr<Transport> MakeTcpTransport(tcp::socket socket, ConnectionPlace place) {
  return std::make_unique<SocketTransport<tcp::socket>>(std::move(socket), std::move(place));
}

std::unique_ptr<Transport> MakeUnixTransport(Local::socket socket, ConnectionPlace place) {
  return std::make_unique<SocketTransport<Local::socket>>(std::move(socket), std::move(place));
}

}  // namespace sluice::net
