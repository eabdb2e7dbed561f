#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sluice::telemetry {

// Counting must not make threads meet: a counter is split into shards, each on cache lines
// of its own, and a thread always adds to the same one. Reading sums them.
inline constexpr std::size_t kShards = 16;
inline constexpr std::size_t kCacheLine = 64;

// The shard of the calling thread: handed out in turn, so that up to kShards threads have
// one each. More threads than that share, and still count right.
[[nodiscard]] std::size_t ThreadShard() noexcept;

// Up to eight counters that are bumped at the same places (the outcomes of one rule): one
// cache line for each thread that bumps any of them, instead of one for each counter.
// Adding is safe from any thread, allocates nothing and costs a few nanoseconds.
class CounterGroup {
 public:
  static constexpr std::size_t kWidth = kCacheLine / sizeof(std::uint64_t);

  // `index` < kWidth.
  void Add(std::size_t index, std::uint64_t n = 1) noexcept {
    // Relaxed: a count orders nothing; who reads it wants a recent sum.
    shards_[ThreadShard()].cells[index].fetch_add(n, std::memory_order_relaxed);
  }
  // Never less than an earlier Read() of the same thread.
  [[nodiscard]] std::uint64_t Read(std::size_t index) const noexcept;

 private:
  struct alignas(kCacheLine) Shard {
    std::array<std::atomic<std::uint64_t>, kWidth> cells{};
  };
  static_assert(sizeof(Shard) == kCacheLine);
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  std::array<Shard, kShards> shards_{};
};

// One counter of its own.
class Counter {
 public:
  void Add(std::uint64_t n = 1) noexcept { group_.Add(0, n); }
  [[nodiscard]] std::uint64_t Read() const noexcept { return group_.Read(0); }

 private:
  CounterGroup group_;
};

}  // namespace sluice::telemetry
