#pragma once

#include <charconv>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "net/transport.h"

namespace sluice::support {

// A connection without a kernel and without allocations of its own: bytes come when the owner
// says so, and what is written is gone at once.
class InstantTransport final : public net::Transport {
 public:
  // One turn of the loop: `bytes` come, which the reader has room for, and what is answered is
  // taken.
  void TakeTurn(std::string_view bytes) {
    SLUICE_ASSERT(bytes.size() <= into_.size());
    std::memcpy(into_.data(), bytes.data(), bytes.size());
    std::exchange(reader_, nullptr)->OnRead({}, bytes.size());
    if (writer_ != nullptr) {
      std::exchange(writer_, nullptr)->OnWritten({});
    }
  }

  void Read(std::span<char> into, std::shared_ptr<net::TransportUser> user) override {
    into_ = into;
    reader_ = std::move(user);
  }
  void Write(std::string_view bytes, std::shared_ptr<net::TransportUser> user) override {
    constexpr std::string_view kVersion = "HTTP/1.1 ";
    bytes.remove_prefix(bytes.starts_with(kVersion) ? kVersion.size() : bytes.size());
    status_ = 0;
    (void)std::from_chars(bytes.data(), bytes.data() + bytes.size(), status_);
    writer_ = std::move(user);
  }
  void ShutdownWrite() noexcept override {}
  void Close() noexcept override {
    reader_.reset();
    writer_.reset();
  }
  [[nodiscard]] std::string_view peer_address() const override { return "192.0.2.7"; }

  // Of the first answer in the last write; 0 if it is none.
  [[nodiscard]] int status() const { return status_; }

 private:
  std::span<char> into_;
  int status_ = 0;
  std::shared_ptr<net::TransportUser> reader_;
  std::shared_ptr<net::TransportUser> writer_;
};

}  // namespace sluice::support
