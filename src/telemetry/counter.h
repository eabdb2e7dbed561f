#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sluice/time.h"

namespace sluice::telemetry {

// Counters avoid contention: a counter is split into shards on separate cache lines, and a thread
// always adds to the same shard. Reading sums them.
inline constexpr std::size_t kShards = 16;
inline constexpr std::size_t kCacheLine = 64;

// The shard of the calling thread, assigned round robin: up to kShards threads have one each. More
// threads share shards and still count correctly.
[[nodiscard]] std::size_t ThreadShard() noexcept;

// Up to eight counters that are incremented in the same places (the outcomes of one rule). They
// take one cache line per thread instead of one per counter. Adding is safe from any thread,
// allocates nothing and costs a few nanoseconds.
class CounterGroup {
 public:
  static constexpr std::size_t kWidth = kCacheLine / sizeof(std::uint64_t);

  // `index` < kWidth.
  void Add(std::size_t index, std::uint64_t n = 1) noexcept {
    // Relaxed: a count orders nothing, and readers need only a recent sum.
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

// A histogram of durations, in buckets from one microsecond to one second: the range of a decision
// from a warm cache to a slow store. Recording is safe from any thread and allocates nothing;
// reading is for scrapes.
class Histogram {
 public:
  // Inclusive upper bounds, as in Prometheus. Longer durations are in +Inf.
  static constexpr std::array<std::int64_t, 19> kBoundsUs{
      1,     2,     5,      10,     20,     50,      100,     200,     500,      1'000,
      2'000, 5'000, 10'000, 20'000, 50'000, 100'000, 200'000, 500'000, 1'000'000};
  static constexpr std::size_t kBuckets = kBoundsUs.size() + 1;

  // Records `times` requests that took `duration` each (a batch is measured as a whole). A negative
  // duration counts as 0.
  void Record(Duration duration, std::uint64_t times = 1) noexcept;

  struct Reading {
    std::array<std::uint64_t, kBuckets> counts{};  // Each bucket alone; the last is +Inf.
    std::uint64_t count = 0;
    std::uint64_t sum_ns = 0;
  };
  [[nodiscard]] Reading Read() const noexcept;

 private:
  struct alignas(kCacheLine) Shard {
    std::array<std::atomic<std::uint64_t>, kBuckets> counts{};
    std::atomic<std::uint64_t> sum_ns{0};
  };
  std::array<Shard, kShards> shards_{};
};

}  // namespace sluice::telemetry
