#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sluice/time.h"

#include "telemetry/counter.h"

namespace sluice::telemetry {

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
