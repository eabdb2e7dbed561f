#include "store/key_loader.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "core/concurrency.h"
#include "core/judging.h"
#include "store/block.h"
#include "store/hold_list.h"

namespace sluice::store {

namespace {

template <class Item>
Item ItemAt(std::span<const std::byte> items, std::size_t i) {
  Item item{};
  std::memcpy(&item, items.data() + i * sizeof(Item), sizeof(Item));
  return item;
}

// Whether the key at `slot` may put a hold into that place.
bool MayHold(const Block& block, std::uint32_t slot) {
  return block.kind() == BlockKind::kFree ||
         (block.kind() == BlockKind::kHolds && block.owner() == slot);
}

Units UnitsOf(const core::Entry& entry) {
  return entry.units;
}
Units UnitsOf(const Hold& hold) {
  return hold.units();
}

// Whether each hold has at least one unit, and their sum is a valid number.
template <class Item>
bool AddUp(std::span<const std::byte> items) {
  Units sum = 0;
  for (std::size_t i = 0; i < items.size() / sizeof(Item); ++i) {
    const Units units = UnitsOf(ItemAt<Item>(items, i));
    if (units <= 0 || units > kMaxUnits || __builtin_add_overflow(sum, units, &sum)) {
      return false;
    }
  }
  return true;
}

}  // namespace

KeyLoader::KeyLoader(const TableParts& parts)
    : parts_(parts),
      homes_(parts.slots.size() - kProbeBound),
      in_use_(parts.blocks.size(), false) {}

bool KeyLoader::IsDamaged(const KeyImage& image, std::span<const std::byte> items) {
  if (image.kind == 0 || image.kind > kLastKind || image.rule > kRulePlaces) {
    return true;
  }
  switch (BlocksOf(image.kind)) {
    case BlockKind::kFree:
      return !items.empty() || image.part != 0;
    case BlockKind::kEntries:
      return items.size() != image.items * sizeof(core::Entry) || !AddUp<core::Entry>(items);
    case BlockKind::kHolds:
      return items.size() != image.items * sizeof(Hold) || image.part != 0 || !AddUp<Hold>(items);
    case BlockKind::kText:
      return items.size() != image.items * sizeof(BlockText) || image.part != 0;
  }
  return true;
}

void KeyLoader::Claim(HoldId id) {
  const BlockRef ref = HoldList::BlockOf(id);
  if (ref != 0 && ref <= in_use_.size()) {
    in_use_[ref - 1] = true;
  }
}

bool KeyLoader::Take(const KeyImage& image, std::span<const std::byte> items) {
  if (IsDamaged(image, items)) {
    trouble_ = Trouble::kDamage;
    return false;
  }
  const bool again = last_ != nullptr && FingerprintOf(*last_) == image.key();
  if (image.part > 0 && !again) {
    trouble_ = Trouble::kDamage;
    return false;
  }
  if (again && (image.part == 0 || image.expiry == 0)) {
    Empty(*last_);
  }
  if (image.expiry == 0) {
    return true;
  }
  Slot* slot = again ? last_ : Place(image);
  trouble_ = slot == nullptr ? Trouble::kNoSlot : Fill(*slot, image, items);
  last_ = slot;
  keys_ += again ? 0 : 1;
  return trouble_ == Trouble::kNone;
}

// The first free slot from the key's home on. Keys come roughly in the order of their homes, so
// this is one pass over the table.
Slot* KeyLoader::Place(const KeyImage& image) {
  const auto scaled = static_cast<Uint128>(image.high) * homes_;
  Slot* home = &parts_.slots[static_cast<std::uint64_t>(scaled >> 64U)];
  for (std::uint16_t i = 0; i < kProbeBound; ++i) {
    Slot& slot = home[i];
    if (slot.kind != 0) {
      continue;
    }
    slot.high.store(image.high, std::memory_order_relaxed);
    slot.low.store(image.low, std::memory_order_relaxed);
    home->max_probe_distance.store(
        std::max(home->max_probe_distance.load(std::memory_order_relaxed), i),
        std::memory_order_relaxed);
    return &slot;
  }
  return nullptr;
}

KeyLoader::Trouble KeyLoader::Fill(Slot& slot, const KeyImage& image,
                                   std::span<const std::byte> items) {
  const auto before = std::bit_cast<ListState>(slot.state);
  slot.rule = image.rule;
  slot.kind = image.kind;
  slot.heat.store(image.heat, std::memory_order_relaxed);
  slot.expiry.store(image.expiry, std::memory_order_relaxed);
  slot.state = image.state;
  if (!HasList(image.kind)) {
    return Trouble::kNone;
  }
  auto list = std::bit_cast<ListState>(image.state);
  list.head = before.head;
  list.tail = before.tail;
  if (BlocksOf(image.kind) == BlockKind::kText) {
    slot.state = std::bit_cast<RawState>(list);
    return AddText(slot, items);
  }
  list.core[0] = image.part == 0 ? 0 : before.core[0];
  slot.state = std::bit_cast<RawState>(list);
  return BlocksOf(image.kind) == BlockKind::kEntries ? AddEntries(slot, items)
                                                     : AddHolds(slot, items);
}

KeyLoader::Trouble KeyLoader::AddEntries(Slot& slot, std::span<const std::byte> items) {
  auto list = std::bit_cast<ListState>(slot.state);
  const auto index = static_cast<std::uint32_t>(&slot - parts_.slots.data());
  auto used = std::bit_cast<Units>(list.core[0]);  // Comes first in both States.
  for (std::size_t i = 0; i < items.size() / sizeof(core::Entry); ++i) {
    const auto entry = ItemAt<core::Entry>(items, i);
    Block* tail = list.tail == 0 ? nullptr : &parts_.blocks[list.tail - 1];
    if (tail == nullptr || tail->count() == kEntriesPerBlock) {
      const BlockRef ref = NextFree();
      if (ref == 0) {
        return Trouble::kNoBlock;
      }
      tail = &Link(ref, index, BlockKind::kEntries, list);
    }
    tail->set_entry(tail->count(), entry);
    tail->set_count(tail->count() + 1);
    if (__builtin_add_overflow(used, entry.units, &used)) {
      return Trouble::kDamage;
    }
  }
  list.core[0] = std::bit_cast<std::uint64_t>(used);
  slot.state = std::bit_cast<RawState>(list);
  return Trouble::kNone;
}

KeyLoader::Trouble KeyLoader::AddHolds(Slot& slot, std::span<const std::byte> items) {
  ListState list;
  core::Concurrency::State holds{.in_flight = 0,
                                 .next_expiry_ns = std::numeric_limits<std::int64_t>::max(),
                                 .last_expiry_ns = 0};
  const auto index = static_cast<std::uint32_t>(&slot - parts_.slots.data());
  // For holds whose own place does not exist in this table, or is taken: keys are copied one after
  // the other, so a block that one key gave back may appear again with another.
  BlockRef shared = 0;
  std::uint32_t shared_count = 0;
  for (std::size_t i = 0; i < items.size() / sizeof(Hold); ++i) {
    const auto hold = ItemAt<Hold>(items, i);
    BlockRef ref = HoldList::BlockOf(hold.id);
    std::uint32_t place = HoldList::PlaceOf(hold.id);
    if (ref == 0) {
      return Trouble::kDamage;
    }
    const bool own = ref <= parts_.blocks.size() && MayHold(parts_.blocks[ref - 1], index);
    if (!own) {
      if (shared_count++ % kHoldsPerBlock == 0) {
        shared = NextFree();
        if (shared == 0) {
          return Trouble::kNoBlock;
        }
      }
      ref = shared;
      place = (shared_count - 1) % kHoldsPerBlock;
    }
    Block& at = parts_.blocks[ref - 1];
    if (at.kind() == BlockKind::kFree) {
      in_use_[ref - 1] = true;
      Link(ref, index, BlockKind::kHolds, list);
    }
    if (!MayHold(at, index) || (at.first() & (1U << place)) != 0) {
      return Trouble::kDamage;
    }
    at.set_hold(place, hold);
    at.set_first(at.first() | (1U << place));
    holds.in_flight += hold.units();
    holds.next_expiry_ns = std::min(holds.next_expiry_ns, hold.expiry_ns);
    holds.last_expiry_ns = std::max(holds.last_expiry_ns, hold.expiry_ns);
  }
  list.core = std::bit_cast<decltype(list.core)>(holds);
  slot.state = std::bit_cast<RawState>(list);
  return Trouble::kNone;
}

KeyLoader::Trouble KeyLoader::AddText(Slot& slot, std::span<const std::byte> items) {
  auto list = std::bit_cast<ListState>(slot.state);
  const auto index = static_cast<std::uint32_t>(&slot - parts_.slots.data());
  for (std::size_t i = 0; i < items.size() / sizeof(BlockText); ++i) {
    const BlockRef ref = NextFree();
    if (ref == 0) {
      return Trouble::kNoBlock;
    }
    const auto text = ItemAt<BlockText>(items, i);
    Link(ref, index, BlockKind::kText, list).set_text({text.data(), text.size()});
  }
  slot.state = std::bit_cast<RawState>(list);
  return Trouble::kNone;
}

BlockRef KeyLoader::NextFree() {
  while (next_free_ < in_use_.size() && in_use_[next_free_]) {
    ++next_free_;
  }
  if (next_free_ == in_use_.size()) {
    return 0;
  }
  in_use_[next_free_] = true;
  return static_cast<BlockRef>(++next_free_);
}

Block& KeyLoader::Link(BlockRef ref, std::uint32_t slot, BlockKind kind, ListState& list) {
  Block& block = parts_.blocks[ref - 1];
  block.Start(slot, kind);
  block.set_prev(list.tail);
  if (list.tail != 0) {
    parts_.blocks[list.tail - 1].set_next(ref);
  } else {
    list.head = ref;
  }
  list.tail = ref;
  return block;
}

// The key starts again, or was removed. It keeps its slot, and its blocks become free.
void KeyLoader::Empty(Slot& slot) {
  if (HasList(slot.kind)) {
    for (BlockRef ref = std::bit_cast<ListState>(slot.state).head; ref != 0;) {
      Block& block = parts_.blocks[ref - 1];
      const BlockRef next = block.next();
      block.Start(0, BlockKind::kFree);
      in_use_[ref - 1] = false;
      next_free_ = std::min<std::size_t>(next_free_, ref - 1);
      ref = next;
    }
  }
  slot.expiry.store(0, std::memory_order_relaxed);
  slot.state = {};
}

}  // namespace sluice::store
