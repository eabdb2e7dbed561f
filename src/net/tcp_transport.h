#pragma once

#include <memory>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "net/connection_limit.h"
#include "net/transport.h"

namespace sluice::net {

// Over TCP. Takes a connected socket; switches Nagle's delay off. `place` is given back
// with the transport.
[[nodiscard]] std::unique_ptr<Transport> MakeTcpTransport(boost::asio::ip::tcp::socket socket,
                                                          ConnectionPlace place = {});
// Over a Unix socket. Its peer's address is "unix".
[[nodiscard]] std::unique_ptr<Transport> MakeUnixTransport(
    boost::asio::local::stream_protocol::socket socket, ConnectionPlace place = {});

}  // namespace sluice::net
