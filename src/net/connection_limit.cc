#include "net/connection_limit.h"

namespace sluice::net {

namespace {

// The first eight bytes of an address, in order.
template <class Bytes>
std::uint64_t BitsOf(const Bytes& bytes) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 8; ++i) {
    bits = bits << 8 | bytes[i];
  }
  return bits;
}

}  // namespace

PeerNetwork PeerNetwork::Of(const boost::asio::ip::address& address) {
  using boost::asio::ip::make_address_v4;
  using boost::asio::ip::v4_mapped;
  if (address.is_v4()) {
    return {.bits = address.to_v4().to_uint()};
  }
  if (address.to_v6().is_v4_mapped()) {
    return {.bits = make_address_v4(v4_mapped, address.to_v6()).to_uint()};
  }
  return {.bits = BitsOf(address.to_v6().to_bytes()), .v6 = true};
}

ConnectionPlace::~ConnectionPlace() {
  if (limit_ != nullptr) {
    limit_->Return(peer_);
  }
}

std::optional<ConnectionPlace> ConnectionLimit::Take(const boost::asio::ip::address& peer) {
  const PeerNetwork network = PeerNetwork::Of(peer);
  const std::lock_guard lock(mutex_);
  if (open_.load(std::memory_order_relaxed) >= most_) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    return std::nullopt;
  }
  const auto held = peers_.find(network);
  if (held != peers_.end() && held->second >= most_per_peer_) {
    refused_of_peers_.fetch_add(1, std::memory_order_relaxed);
    return std::nullopt;
  }
  if (held != peers_.end()) {
    ++held->second;
  } else {
    peers_.emplace(network, 1);
  }
  open_.fetch_add(1, std::memory_order_relaxed);
  return ConnectionPlace(*this, network);
}

void ConnectionLimit::Return(const PeerNetwork& peer) {
  const std::lock_guard lock(mutex_);
  open_.fetch_sub(1, std::memory_order_relaxed);
  if (const auto held = peers_.find(peer); held != peers_.end() && --held->second == 0) {
    peers_.erase(held);
  }
}

}  // namespace sluice::net
