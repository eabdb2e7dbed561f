#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sluice/decision.h"

#include "core/outcome.h"

namespace sluice::store {

// A block by its index + 1; 0 is none. 28 bits.
using BlockRef = std::uint32_t;
inline constexpr std::uint32_t kMaxBlocks = (1U << 28) - 2;

enum class BlockKind : std::uint8_t {
  kFree = 0,
  kEntries = 1,  // Of sliding_window_log and sliding_window.
  kHolds = 2,    // Of concurrency.
  kText = 3,     // The key of a ban.
};

// One unit group in flight. Empty unless its bit in the block's mask is set.
struct Hold {
  std::uint64_t id = 0;
  std::int64_t expiry_ns = 0;
  Units units = 0;
};

inline constexpr std::uint32_t kEntriesPerBlock = 7;
inline constexpr std::uint32_t kHoldsPerBlock = 4;
inline constexpr std::size_t kTextBytesPerBlock = 112;
using BlockText = std::array<char, kTextBytesPerBlock>;

// 128 bytes of what does not fit into a slot. Belongs to one slot, under whose lock it is
// read and written; `next` and `owner` are atomic because the free list and an evictor look
// at them before they know whose the block is.
//
// Three words are shared: 28 bits of a reference below, 4 bits of a small number above.
class Block {
 public:
  [[nodiscard]] BlockRef next() const { return next_.load(std::memory_order_relaxed) & kLow; }
  [[nodiscard]] BlockRef prev() const { return prev_ & kLow; }
  [[nodiscard]] std::uint32_t owner() const {
    return owner_.load(std::memory_order_relaxed) & kLow;
  }
  [[nodiscard]] BlockKind kind() const {
    return static_cast<BlockKind>(owner_.load(std::memory_order_relaxed) >> kShift);
  }
  // Entries: where the oldest stands. Holds: a mask of the places in use.
  [[nodiscard]] std::uint32_t first() const {
    return next_.load(std::memory_order_relaxed) >> kShift;
  }
  [[nodiscard]] std::uint32_t count() const { return prev_ >> kShift; }

  void set_next(BlockRef next) {
    next_.store((next_.load(std::memory_order_relaxed) & ~kLow) | next, std::memory_order_relaxed);
  }
  void set_prev(BlockRef prev) { prev_ = (prev_ & ~kLow) | prev; }
  void set_first(std::uint32_t first) {
    next_.store(next() | (first << kShift), std::memory_order_relaxed);
  }
  void set_count(std::uint32_t count) { prev_ = prev() | (count << kShift); }
  void set_owner(std::uint32_t slot, BlockKind kind) {
    owner_.store(slot | (static_cast<std::uint32_t>(kind) << kShift), std::memory_order_relaxed);
  }
  // An empty block of `kind` for the slot with index `slot`.
  void Start(std::uint32_t slot, BlockKind kind) {
    next_.store(0, std::memory_order_relaxed);
    prev_ = 0;
    expiry_ = 0;
    set_owner(slot, kind);
  }

  [[nodiscard]] core::Entry& entry(std::uint32_t i) { return payload_.entries[i]; }
  [[nodiscard]] const core::Entry& entry(std::uint32_t i) const { return payload_.entries[i]; }
  [[nodiscard]] Hold& hold(std::uint32_t i) { return payload_.holds[i]; }
  [[nodiscard]] const Hold& hold(std::uint32_t i) const { return payload_.holds[i]; }
  [[nodiscard]] BlockText& text() { return payload_.text; }
  [[nodiscard]] const BlockText& text() const { return payload_.text; }

 private:
  static constexpr std::uint32_t kShift = 28;
  static constexpr std::uint32_t kLow = (1U << kShift) - 1;

  std::atomic<std::uint32_t> next_{0};
  std::uint32_t prev_ = 0;
  std::atomic<std::uint32_t> owner_{0};
  std::uint32_t expiry_ = 0;  // For kinds without a slot. 0: as long as its slot.
  union {
    std::array<core::Entry, kEntriesPerBlock> entries;
    std::array<Hold, kHoldsPerBlock> holds;
    BlockText text;
  } payload_{};
};
static_assert(sizeof(Block) == 128);
inline constexpr std::size_t kBlockHeadBytes = 16;

}  // namespace sluice::store
