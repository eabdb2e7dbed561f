#include "telemetry/counter.h"

#include <algorithm>

namespace sluice::telemetry {

std::size_t ThreadShard() noexcept {
  static std::atomic<std::size_t> next{0};
  thread_local const std::size_t mine = next.fetch_add(1, std::memory_order_relaxed) % kShards;
  return mine;
}

std::uint64_t CounterGroup::Read(std::size_t index) const noexcept {
  std::uint64_t sum = 0;
  for (const Shard& shard : shards_) {
    sum += shard.cells[index].load(std::memory_order_relaxed);
  }
  return sum;
}

void Histogram::Record(Duration duration, std::uint64_t times) noexcept {
  const auto ns = std::max<std::int64_t>(duration.count(), 0);
  const std::int64_t us = (ns / 1'000) + (ns % 1'000 != 0 ? 1 : 0);
  const auto* bound = std::lower_bound(kBoundsUs.begin(), kBoundsUs.end(), us);
  const auto bucket = static_cast<std::size_t>(bound - kBoundsUs.begin());
  Shard& shard = shards_[ThreadShard()];
  shard.counts[bucket].fetch_add(times, std::memory_order_relaxed);
  shard.sum_ns.fetch_add(static_cast<std::uint64_t>(ns) * times, std::memory_order_relaxed);
}

Histogram::Reading Histogram::Read() const noexcept {
  Reading reading;
  for (const Shard& shard : shards_) {
    for (std::size_t i = 0; i < kBuckets; ++i) {
      const std::uint64_t n = shard.counts[i].load(std::memory_order_relaxed);
      reading.counts[i] += n;
      reading.count += n;
    }
    reading.sum_ns += shard.sum_ns.load(std::memory_order_relaxed);
  }
  return reading;
}

}  // namespace sluice::telemetry
