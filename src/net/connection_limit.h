#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sluice::net {

// How many connections are open, over all loops and listeners that share it, and how many
// may be. Any thread.
class ConnectionLimit {
 public:
  explicit ConnectionLimit(std::size_t most) : most_(most) {}
  ConnectionLimit(const ConnectionLimit&) = delete;
  ConnectionLimit& operator=(const ConnectionLimit&) = delete;

  // False, and counted as refused, where all places are taken.
  [[nodiscard]] bool TryTake();
  void Return();

  [[nodiscard]] std::size_t open() const { return open_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  // Counts only; nothing is published through them, so relaxed order does.
  const std::size_t most_;
  std::atomic<std::size_t> open_{0};
  std::atomic<std::uint64_t> refused_{0};
};

// One place under a limit (or none), given back when it is destroyed.
class ConnectionPlace {
 public:
  ConnectionPlace() = default;
  // Takes over a place that TryTake() took.
  explicit ConnectionPlace(ConnectionLimit& limit) : limit_(&limit) {}
  ConnectionPlace(ConnectionPlace&& other) noexcept
      : limit_(std::exchange(other.limit_, nullptr)) {}
  ConnectionPlace& operator=(ConnectionPlace&&) = delete;
  ~ConnectionPlace() {
    if (limit_ != nullptr) {
      limit_->Return();
    }
  }

 private:
  ConnectionLimit* limit_ = nullptr;
};

}  // namespace sluice::net
