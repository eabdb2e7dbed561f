#include "telemetry/counter.h"

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

}  // namespace sluice::telemetry
