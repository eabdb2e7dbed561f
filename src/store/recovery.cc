#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>

#include "core/concurrency.h"
#include "store/block.h"
#include "store/journal.h"
#include "store/table_load.h"

namespace sluice::store {

namespace {

struct Walk {
  ListState list;
  bool repaired = false;
};

bool MayLinkTo(BlockRef ref, BlockKind kind, const TableParts& parts,
               const std::vector<bool>& in_use) {
  return ref != 0 && ref <= parts.blocks.size() && !in_use[ref - 1] &&
         parts.blocks[ref - 1].kind() == kind;
}

// Follows `next` from the head, and repairs `prev`, the owner and the tail.
Walk WalkChain(std::uint32_t slot, BlockKind kind, ListState list, const TableParts& parts,
               std::vector<bool>& in_use) {
  Walk walk{.list = list};
  BlockRef prev = 0;
  BlockRef ref = list.head;
  while (MayLinkTo(ref, kind, parts, in_use)) {
    Block& block = parts.blocks[ref - 1];
    if (kind == BlockKind::kEntries &&
        (block.count() == 0 || block.first() + block.count() > kEntriesPerBlock)) {
      break;
    }
    in_use[ref - 1] = true;
    block.set_owner(slot, kind);
    block.set_prev(prev);
    prev = ref;
    ref = block.next();
    if (prev == list.tail) {
      break;  // Behind the tail there is at most what an undone request had added.
    }
  }
  walk.repaired = prev != list.tail;
  if (prev == 0) {
    walk.list.head = 0;
  } else {
    parts.blocks[prev - 1].set_next(0);
  }
  walk.list.tail = prev;
  return walk;
}

bool IsPossible(Units units) {
  return units > 0 && units <= kMaxUnits;
}

// Restores `used` of a window, or the counts of a concurrency key, from the chain. False if no key
// can have that.
bool Recount(BlockKind kind, ListState& list, std::span<Block> blocks) {
  if (kind == BlockKind::kText) {
    return true;
  }
  Units sum = 0;
  core::Concurrency::State holds{.in_flight = 0,
                                 .next_expiry_ns = std::numeric_limits<std::int64_t>::max()};
  for (BlockRef ref = list.head; ref != 0; ref = blocks[ref - 1].next()) {
    const Block& block = blocks[ref - 1];
    if (kind == BlockKind::kEntries) {
      for (std::uint32_t i = block.first(); i < block.first() + block.count(); ++i) {
        if (!IsPossible(block.entry(i).units) ||
            __builtin_add_overflow(sum, block.entry(i).units, &sum)) {
          return false;
        }
      }
      continue;
    }
    for (std::uint32_t i = 0; i < kHoldsPerBlock; ++i) {
      if ((block.first() & (1U << i)) != 0) {
        const Hold hold = block.hold(i);
        if (!IsPossible(hold.units()) || __builtin_add_overflow(sum, hold.units(), &sum)) {
          return false;
        }
        holds.next_expiry_ns = std::min(holds.next_expiry_ns, hold.expiry_ns);
        holds.last_expiry_ns = std::max(holds.last_expiry_ns, hold.expiry_ns);
      }
    }
  }
  if (kind == BlockKind::kEntries) {
    list.core[0] = std::bit_cast<std::uint64_t>(sum);  // `used` comes first in both States.
  } else {
    holds.in_flight = sum;
    list.core = std::bit_cast<decltype(list.core)>(sum == 0 ? core::Concurrency::State{} : holds);
  }
  return true;
}

void Forget(Slot& slot) {
  slot.expiry.store(0, std::memory_order_relaxed);
  slot.state = {};
}

void GiveBack(BlockRef head, std::span<const Block> blocks, std::vector<bool>& in_use) {
  for (BlockRef ref = head; ref != 0; ref = blocks[ref - 1].next()) {
    in_use[ref - 1] = false;
  }
}

// Repairs a key with entries or holds. True if some of it was lost.
bool RepairList(std::uint32_t index, BlockKind kind, const TableParts& parts,
                std::vector<bool>& in_use) {
  Slot& slot = parts.slots[index];
  Walk walk = WalkChain(index, kind, std::bit_cast<ListState>(slot.state), parts, in_use);
  if (!Recount(kind, walk.list, parts.blocks)) {
    GiveBack(walk.list.head, parts.blocks, in_use);
    walk = {.list = {}, .repaired = true};
  }
  slot.state = std::bit_cast<RawState>(walk.list);
  if (walk.list.head == 0 && kind != BlockKind::kText) {  // A ban is valid without its text.
    Forget(slot);
  }
  return walk.repaired;
}

}  // namespace

int UndoAll(std::span<std::byte> mapping, std::size_t from, std::span<JournalRecord> records) {
  for (const JournalRecord& record : records) {
    // Pairs with the release in Publish: the ranges that are counted are whole.
    const std::uint32_t count = record.count.load(std::memory_order_acquire);
    if (count > kJournalRanges) {
      return -1;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      const SavedRange& range = record.ranges[i];
      if (range.size > kMaxSavedBytes || range.offset < from ||
          range.offset > mapping.size() - range.size) {
        return -1;
      }
    }
  }
  int undone = 0;
  for (JournalRecord& record : records) {
    // Backwards: a range saved twice gets its oldest bytes.
    for (std::uint32_t i = record.count.load(std::memory_order_relaxed); i > 0; --i) {
      const SavedRange& range = record.ranges[i - 1];
      std::memcpy(mapping.data() + range.offset, range.bytes.data(), range.size);
      undone += i == 1 ? 1 : 0;
    }
    record.count.store(0, std::memory_order_release);  // Killed here, the next start undoes again.
  }
  return undone;
}

Result<RecoveryReport> Recover(const TableParts& parts) {
  RecoveryReport report;
  const auto slots_begin = static_cast<std::size_t>(
      reinterpret_cast<const std::byte*>(parts.slots.data()) - parts.bytes.data());
  report.requests_undone = UndoAll(parts.bytes, slots_begin, parts.journal);
  if (report.requests_undone < 0) {
    return tl::unexpected(
        Error{"has a damaged journal: remove the file to start with its last snapshot or, without "
              "one, with every key at its full limit",
              {}});
  }
  for (RulePlace& place : parts.rules) {
    if (place.size.load(std::memory_order_relaxed) > kRuleIdBytes) {
      place.size.store(0, std::memory_order_relaxed);
    }
  }
  report.blocks_in_use.assign(parts.blocks.size(), false);
  for (std::size_t i = 0; i < parts.slots.size(); ++i) {
    Slot& slot = parts.slots[i];
    slot.lock.store(0, std::memory_order_relaxed);
    slot.insert_lock.store(0, std::memory_order_relaxed);
    slot.max_probe_distance.store(
        std::min<std::uint16_t>(slot.max_probe_distance.load(std::memory_order_relaxed),
                                kProbeBound - 1),
        std::memory_order_relaxed);
    if (slot.expiry.load(std::memory_order_relaxed) == 0 || slot.kind == 0 ||
        slot.kind > kLastKind) {
      Forget(slot);
      continue;
    }
    if (slot.rule > kRulePlaces) {
      slot.rule = 0;
    }
    const BlockKind kind = BlocksOf(slot.kind);
    if (kind != BlockKind::kFree &&
        RepairList(static_cast<std::uint32_t>(i), kind, parts, report.blocks_in_use)) {
      ++report.chains_repaired;
    }
  }
  return report;
}

}  // namespace sluice::store
