#include "store/recovery.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>

#include "core/concurrency.h"
#include "store/journal.h"
#include "store/list_kind.h"

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

// Follows `next` from the head; `prev`, the owner and the tail are made to fit.
Walk WalkChain(std::uint32_t slot, BlockKind kind, ListState list, const TableParts& parts,
               std::vector<bool>& in_use) {
  Walk walk{.list = list};
  BlockRef prev = 0;
  BlockRef ref = list.head;
  while (MayLinkTo(ref, kind, parts, in_use)) {
    Block& block = parts.blocks[ref - 1];
    if (kind == BlockKind::kEntries && block.first() + block.count() > kEntriesPerBlock) {
      break;
    }
    in_use[ref - 1] = true;
    block.set_owner(slot, kind);
    block.set_prev(prev);
    prev = ref;
    ref = block.next();
    if (prev == list.tail) {
      break;  // Behind the tail lies at most what an undone request had added.
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

// `used` of a window, or the counts of a concurrency key, from what the chain has.
void Recount(BlockKind kind, ListState& list, std::span<Block> blocks) {
  Units units = 0;
  core::Concurrency::State holds{.in_flight = 0,
                                 .next_expiry_ns = std::numeric_limits<std::int64_t>::max()};
  for (BlockRef ref = list.head; ref != 0; ref = blocks[ref - 1].next()) {
    const Block& block = blocks[ref - 1];
    if (kind == BlockKind::kEntries) {
      for (std::uint32_t i = block.first(); i < block.first() + block.count(); ++i) {
        units += block.entry(i).units;
      }
      continue;
    }
    for (std::uint32_t i = 0; i < kHoldsPerBlock; ++i) {
      if ((block.first() & (1U << i)) != 0) {
        const Hold& hold = block.hold(i);
        holds.in_flight += hold.units;
        holds.next_expiry_ns = std::min(holds.next_expiry_ns, hold.expiry_ns);
        holds.last_expiry_ns = std::max(holds.last_expiry_ns, hold.expiry_ns);
      }
    }
  }
  if (kind == BlockKind::kEntries) {
    list.core[0] = std::bit_cast<std::uint64_t>(units);  // `used` comes first in both States.
  } else {
    list.core = std::bit_cast<decltype(list.core)>(holds.in_flight == 0 ? core::Concurrency::State{}
                                                                        : holds);
  }
}

}  // namespace

Result<RecoveryReport> Recover(const TableParts& parts) {
  RecoveryReport report;
  report.requests_undone = UndoAll(parts.bytes, parts.journal);
  if (report.requests_undone < 0) {
    return tl::unexpected(
        Error{"has a damaged journal: remove it to start with every key fresh", {}});
  }
  report.blocks_in_use.assign(parts.blocks.size(), false);
  for (std::size_t i = 0; i < parts.slots.size(); ++i) {
    Slot& slot = parts.slots[i];
    slot.lock.store(0, std::memory_order_relaxed);
    slot.insert_lock.store(0, std::memory_order_relaxed);
    slot.reach.store(
        std::min<std::uint16_t>(slot.reach.load(std::memory_order_relaxed), kProbeBound - 1),
        std::memory_order_relaxed);
    if (slot.expiry.load(std::memory_order_relaxed) == 0) {
      slot.state = {};
      continue;
    }
    const BlockKind kind = BlocksOf(slot.kind);
    if (kind == BlockKind::kFree) {
      continue;
    }
    Walk walk = WalkChain(static_cast<std::uint32_t>(i), kind, std::bit_cast<ListState>(slot.state),
                          parts, report.blocks_in_use);
    Recount(kind, walk.list, parts.blocks);
    slot.state = std::bit_cast<RawState>(walk.list);
    if (walk.list.head == 0) {
      slot.expiry.store(0, std::memory_order_relaxed);
      slot.state = {};
    }
    report.chains_repaired += walk.repaired ? 1 : 0;
  }
  return report;
}

}  // namespace sluice::store
