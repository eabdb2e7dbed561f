#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "store/block.h"

namespace sluice::store {

// The table's blocks and the list of free ones: a stack whose head carries a counter, so
// that a block taken and given back in between is noticed. Safe from any thread, no lock.
class BlockPool {
 public:
  // All `blocks` free, unless `in_use` (empty or one flag a block) says otherwise.
  BlockPool(std::span<Block> blocks, const std::vector<bool>& in_use);

  [[nodiscard]] BlockRef Take();  // 0 when none is free.
  void Give(BlockRef block);
  // Gives back all from `first` up to but without `end`, along `next`.
  void GiveChain(BlockRef first, BlockRef end);

  [[nodiscard]] Block& at(BlockRef ref) const { return blocks_[ref - 1]; }
  [[nodiscard]] std::uint32_t total() const { return static_cast<std::uint32_t>(blocks_.size()); }
  [[nodiscard]] std::uint32_t in_use() const { return in_use_.load(std::memory_order_relaxed); }

 private:
  void Push(BlockRef first, BlockRef last, std::uint32_t count);

  std::span<Block> blocks_;
  alignas(64) std::atomic<std::uint64_t> top_{0};  // Counter above, reference below.
  alignas(64) std::atomic<std::uint32_t> in_use_{0};
};

}  // namespace sluice::store
