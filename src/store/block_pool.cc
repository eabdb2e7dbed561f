#include "store/block_pool.h"

#include <cstddef>

// A stack that threads share without a lock
// =========================================
//
// The problem. Requests take blocks and give them back while they hold the locks of slots, so the
// pool must not wait for another thread. Free blocks therefore form a stack, linked by `next`,
// whose top is one word that is changed by compare-exchange. Its classic trap has the name ABA:
//
// 1. A thread reads the top, block A, and A's link to B. It is put to sleep. Another thread takes
//    A, takes B, and gives A back. The top is A again, and the sleeper's exchange would make B the
//    top: a block that is in use. So the upper half of the word counts exchanges. The sleeper's
//    old count differs, its exchange fails, and it reads again. The count has 32 bits: the sleeper
//    would have to miss exactly 2^32 exchanges, more than a minute of nothing else, and find A on
//    top again.
//
// 2. The same sleeper reads A's link after another thread took A and wrote something else there.
//    It reads a number that means nothing, of memory that is always mapped, and never uses it: the
//    exchange fails. `next` is atomic for this read alone.
//
// 3. One thread writes a block and gives it back, another takes it. The giver's exchange releases,
//    the taker's load acquires, so the taker sees the block as it was given, its link too.
//
// 4. SlotArray::FreeBlocks looks at any block's owner without a lock, to find keys whose blocks
//    might go. What it reads may be out of date. It only says which slot to lock: what is freed is
//    that slot's own chain, under its lock.
//
// 5. The process is killed, with blocks taken and not linked yet, or unlinked and not given back.
//    The free list is no part of what must survive: at the next start every chain is followed from
//    its slot, and all blocks in no chain are free (recovery.cc). So nothing here needs the
//    journal.
namespace sluice::store {

namespace {

constexpr std::uint64_t Tagged(std::uint64_t old, BlockRef ref) {
  return (((old >> 32U) + 1) << 32U) | ref;
}

}  // namespace

BlockPool::BlockPool(std::span<Block> blocks, const std::vector<bool>& in_use) : blocks_(blocks) {
  BlockRef top = 0;
  std::uint32_t used = 0;
  for (std::size_t i = blocks.size(); i > 0; --i) {
    if (!in_use.empty() && in_use[i - 1]) {
      ++used;
      continue;
    }
    blocks[i - 1].Start(0, BlockKind::kFree);
    blocks[i - 1].set_next(top);
    top = static_cast<BlockRef>(i);
  }
  top_.store(top, std::memory_order_relaxed);
  in_use_.store(used, std::memory_order_relaxed);
}

BlockRef BlockPool::Take() {
  // Acquire pairs with the release in Push: the pushing thread's writes to the block are visible.
  std::uint64_t top = top_.load(std::memory_order_acquire);
  for (;;) {
    const auto ref = static_cast<BlockRef>(top);
    if (ref == 0) {
      return 0;
    }
    // May read the link of a block that another thread has just taken; the counter then
    // differs and the exchange fails.
    const BlockRef next = at(ref).next();
    // It cannot be an older link either: the acquire of `top` puts the write that pushed `ref`
    // before this read. Release keeps this exchange in the chain that began with that push, so that
    // the next Take still synchronises with it.
    if (top_.compare_exchange_weak(top, Tagged(top, next), std::memory_order_acq_rel,
                                   std::memory_order_acquire)) {
      in_use_.fetch_add(1, std::memory_order_relaxed);
      return ref;
    }
  }
}

void BlockPool::Give(BlockRef block) {
  at(block).Start(0, BlockKind::kFree);
  Push(block, block, 1);
}

void BlockPool::GiveChain(BlockRef first, BlockRef end) {
  if (first == 0 || first == end) {
    return;
  }
  std::uint32_t count = 0;
  BlockRef last = first;
  for (BlockRef ref = first; ref != end && ref != 0;) {
    Block& block = at(ref);
    const BlockRef next = block.next();
    block.Start(0, BlockKind::kFree);
    block.set_next(next);
    last = ref;
    ref = next;
    ++count;
  }
  Push(first, last, count);
}

void BlockPool::Push(BlockRef first, BlockRef last, std::uint32_t count) {
  in_use_.fetch_sub(count, std::memory_order_relaxed);
  std::uint64_t top = top_.load(std::memory_order_relaxed);
  // Release pairs with the acquires in Take: the taker sees the blocks as they were pushed. The
  // value of `top` is only written back, so reading it may be relaxed.
  do {
    at(last).set_next(static_cast<BlockRef>(top));
  } while (!top_.compare_exchange_weak(top, Tagged(top, first), std::memory_order_acq_rel,
                                       std::memory_order_relaxed));
}

}  // namespace sluice::store
