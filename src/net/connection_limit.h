#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include <boost/asio/ip/address.hpp>

namespace sluice::net {

class ConnectionLimit;

// The owner of a connection, for counting: an IPv4 address, or an IPv6 /64, which one customer
// holds.
struct PeerNetwork {
  std::uint64_t bits = 0;
  bool v6 = false;

  static PeerNetwork Of(const boost::asio::ip::address& address);
  bool operator==(const PeerNetwork&) const = default;
};

// One place under a limit (or none), given back when it is destroyed. The limit outlives it.
class ConnectionPlace {
 public:
  ConnectionPlace() = default;
  ConnectionPlace(ConnectionPlace&& other) noexcept
      : limit_(std::exchange(other.limit_, nullptr)), peer_(other.peer_) {}
  ConnectionPlace& operator=(ConnectionPlace&&) = delete;
  ~ConnectionPlace();

 private:
  friend class ConnectionLimit;
  ConnectionPlace(ConnectionLimit& limit, PeerNetwork peer) : limit_(&limit), peer_(peer) {}

  ConnectionLimit* limit_ = nullptr;
  PeerNetwork peer_;
};

// How many connections are open, over all loops and listeners that share it, and how many may
// be, all together and of one peer. Any thread; takes a lock, for a connection costs more.
class ConnectionLimit {
 public:
  explicit ConnectionLimit(std::size_t most,
                           std::size_t most_per_peer = std::numeric_limits<std::size_t>::max())
      : most_(most), most_per_peer_(most_per_peer) {}
  ConnectionLimit(const ConnectionLimit&) = delete;
  ConnectionLimit& operator=(const ConnectionLimit&) = delete;

  // None, and counted as refused, where all places are taken, or all of this peer's.
  [[nodiscard]] std::optional<ConnectionPlace> Take(const boost::asio::ip::address& peer);

  [[nodiscard]] std::size_t open() const { return open_.load(std::memory_order_relaxed); }
  // Because of the total limit, and because of the limit per peer.
  [[nodiscard]] std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t refused_of_peers() const {
    return refused_of_peers_.load(std::memory_order_relaxed);
  }

 private:
  friend class ConnectionPlace;

  struct Hash {
    std::size_t operator()(const PeerNetwork& peer) const {
      // Spread by a multiplication: the bits that differ may be few, and at one end.
      return static_cast<std::size_t>((peer.bits + (peer.v6 ? 1 : 0)) * 0x9E3779B97F4A7C15U >> 16);
    }
  };

  void Return(const PeerNetwork& peer);

  const std::size_t most_;
  const std::size_t most_per_peer_;
  std::mutex mutex_;
  std::unordered_map<PeerNetwork, std::size_t, Hash> peers_;  // Those with connections.
  // Written under the lock, read without it: counts only, so relaxed order does.
  std::atomic<std::size_t> open_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<std::uint64_t> refused_of_peers_{0};
};

}  // namespace sluice::net
