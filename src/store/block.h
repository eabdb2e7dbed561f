#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "sluice/decision.h"

#include "core/algorithm.h"
#include "core/judging.h"
#include "core/reserves.h"

namespace sluice::store {

// A block by its index + 1; 0 is none. 28 bits.
using BlockRef = std::uint32_t;
inline constexpr std::uint32_t kMaxBlocks = (1U << 28) - 2;

enum class BlockKind : std::uint8_t {
  kFree = 0,
  kEntries = 1,
  kHolds = 2,
  kText = 3,  // The key of a ban.
};

// Slot::kind: an algorithm's number from 1 on, except for the two numbers of slots that are no
// algorithm's, a mark (mark.h) and a ban (ban_list.h). Tables and snapshots store it: no kind ever
// changes.
inline constexpr std::uint8_t kMarkKind = 11;
inline constexpr std::uint8_t kBanKind = 12;
[[nodiscard]] constexpr std::uint8_t KindOf(core::Algorithm algorithm) {
  const auto kind = static_cast<std::uint8_t>(static_cast<std::uint8_t>(algorithm) + 1);
  return static_cast<std::uint8_t>(kind < kMarkKind ? kind : kind + 2);
}
inline constexpr std::uint8_t kLastKind = std::max(kBanKind, KindOf(core::kAllAlgorithms.back()));

// nullopt for a mark or a ban.
[[nodiscard]] constexpr std::optional<core::Algorithm> AlgorithmOf(std::uint8_t kind) {
  if (kind == 0 || kind == kMarkKind || kind == kBanKind || kind > kLastKind) {
    return std::nullopt;
  }
  return static_cast<core::Algorithm>(kind < kMarkKind ? kind - 1 : kind - 3);
}

// The kind of block that a slot has; kFree if none.
[[nodiscard]] constexpr BlockKind BlocksOf(core::Algorithm algorithm) {
  switch (core::TraitsOf(algorithm).items) {
    case core::Items::kNone:
      break;
    case core::Items::kEntries:
      return BlockKind::kEntries;
    case core::Items::kHolds:
      return BlockKind::kHolds;
  }
  return BlockKind::kFree;
}
[[nodiscard]] constexpr BlockKind BlocksOf(std::uint8_t kind) {
  const auto algorithm = AlgorithmOf(kind);
  return algorithm ? BlocksOf(*algorithm) : kind == kBanKind ? BlockKind::kText : BlockKind::kFree;
}
[[nodiscard]] constexpr bool HasList(std::uint8_t kind) {
  return BlocksOf(kind) != BlockKind::kFree;
}

// The units of one request in flight. Empty unless its bit in the block's mask is set.
struct Hold {
  std::uint64_t id = 0;
  std::int64_t expiry_ns = 0;
  // The units in the low bits, the priority that they were granted to in the high bits.
  std::uint64_t charge = 0;

  [[nodiscard]] static constexpr std::uint64_t ChargeOf(Units units, core::PriorityTag priority) {
    return static_cast<std::uint64_t>(units) | (std::uint64_t{priority} << kUnitsBits);
  }
  [[nodiscard]] constexpr Units units() const {
    return static_cast<Units>(charge & ((std::uint64_t{1} << kUnitsBits) - 1));
  }
  [[nodiscard]] constexpr core::PriorityTag priority() const {
    return static_cast<core::PriorityTag>(charge >> kUnitsBits);
  }

 private:
  static constexpr unsigned kUnitsBits = 50;
  static_assert(kMaxUnits < Units{1} << kUnitsBits && kUnitsBits + core::kPriorityTagBits < 64);
};
static_assert(sizeof(Hold) == 24);

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
  // Entries: the place of the oldest. Holds: a mask of the places in use.
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
    unused_ = 0;
    set_owner(slot, kind);
  }

  // The payload is bytes, which are read and written according to the block's kind.
  [[nodiscard]] core::Entry entry(std::uint32_t i) const { return Get<core::Entry>(i); }
  void set_entry(std::uint32_t i, const core::Entry& entry) { Put(i, entry); }
  // Its address, for the journal.
  [[nodiscard]] const std::byte* place_of_entry(std::uint32_t i) const {
    return payload_.data() + i * sizeof(core::Entry);
  }
  [[nodiscard]] Hold hold(std::uint32_t i) const { return Get<Hold>(i); }
  void set_hold(std::uint32_t i, const Hold& hold) { Put(i, hold); }
  // In one store: a killed process leaves either the old expiry or the new one.
  void set_hold_expiry(std::uint32_t i, std::int64_t expiry_ns) {
    std::memcpy(payload_.data() + i * sizeof(Hold) + offsetof(Hold, expiry_ns), &expiry_ns,
                sizeof(expiry_ns));
  }
  [[nodiscard]] BlockText text() const { return Get<BlockText>(0); }
  // At most kTextBytesPerBlock; the bytes behind them have no meaning.
  void set_text(std::string_view text) { std::memcpy(payload_.data(), text.data(), text.size()); }

 private:
  template <class Item>
  [[nodiscard]] Item Get(std::uint32_t i) const {
    Item item;  // NOLINT(cppcoreguidelines-pro-type-member-init): the next line fills all of it.
    std::memcpy(&item, payload_.data() + i * sizeof(Item), sizeof(Item));
    return item;
  }
  template <class Item>
  void Put(std::uint32_t i, const Item& item) {
    std::memcpy(payload_.data() + i * sizeof(Item), &item, sizeof(Item));
  }

  static constexpr std::uint32_t kShift = 28;
  static constexpr std::uint32_t kLow = (1U << kShift) - 1;

  std::atomic<std::uint32_t> next_{0};
  std::uint32_t prev_ = 0;
  std::atomic<std::uint32_t> owner_{0};
  std::uint32_t unused_ = 0;
  alignas(8) std::array<std::byte, kTextBytesPerBlock> payload_{};
};
static_assert(sizeof(Block) == 128);
static_assert(kEntriesPerBlock * sizeof(core::Entry) <= kTextBytesPerBlock);
static_assert(kHoldsPerBlock * sizeof(Hold) <= kTextBytesPerBlock);
inline constexpr std::size_t kBlockHeadBytes = 16;

}  // namespace sluice::store
