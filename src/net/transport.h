#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <boost/system/error_code.hpp>

namespace sluice::net {

// The user of a connection: called when reads and writes are done, on the loop's thread, never
// inside the call that started them.
class TransportUser {
 public:
  virtual ~TransportUser() = default;

  // `size` bytes were read; 0 with an error. The end of the stream is boost::asio::error::eof.
  virtual void OnRead(const boost::system::error_code& error, std::size_t size) noexcept = 0;

  // All was written, or an error says why not.
  virtual void OnWritten(const boost::system::error_code& error) noexcept = 0;
};

// A stream of bytes to one peer. At most one read and one write under way at a time. What
// was started ends in exactly one call of its user, also after Close() (then with
// operation_aborted); until that call it keeps the user alive. Virtual calls are per turn,
// not per request. TLS is another Transport (net/tls_transport.h). One thread.
class Transport {
 public:
  virtual ~Transport() = default;

  // Reads what comes, at least one byte. `into` stays put until OnRead().
  virtual void Read(std::span<char> into, std::shared_ptr<TransportUser> user) = 0;

  // Writes all of `bytes`, which stay put until OnWritten().
  virtual void Write(std::string_view bytes, std::shared_ptr<TransportUser> user) = 0;

  // Says to the peer that nothing more will come; reading goes on.
  virtual void ShutdownWrite() noexcept = 0;

  // At once. Idempotent.
  virtual void Close() noexcept = 0;

  // "192.0.2.7", "2001:db8::1" (an IPv4 address inside IPv6 as IPv4), without the port.
  [[nodiscard]] virtual std::string_view peer_address() const = 0;

  // What both ends agreed to speak (ALPN): "h2", "http/1.1"; "" where nothing was said.
  [[nodiscard]] virtual std::string_view protocol() const { return {}; }
};

}  // namespace sluice::net
