#include "store/draft.h"

#include <bit>

#include "base/assert.h"
#include "base/random.h"
#include "core/attempt_window.h"
#include "store/block.h"
#include "store/hold_list.h"

namespace sluice::store {

namespace {

// How often a thread looks for a free block. Each look is bounded, and all of them are made under
// the request's locks, so they are few.
constexpr int kLooks = 8;

BlockKind BlocksOfCheck(const Check& check) {
  return BlocksOf(check.quota.algorithm);
}

// `second` follows `first` in the same request: both append at the same moment.
EntryChange Joined(EntryChange first, const EntryChange& second) {
  first.drop += second.drop;
  if (second.append.units > 0) {
    SLUICE_DCHECK(first.append.units == 0 || first.append.at == second.append.at);
    first.append = {.at = second.append.at, .units = first.append.units + second.append.units};
  }
  return first;
}

// 0 if none is free and none can be made free.
BlockRef TakeBlock(TableCore& core, const Turn& turn) {
  using From = SlotArray::FromKeys;
  const bool may_evict = core.when_full == WhenFull::kEvict;
  BlockRef block = core.blocks.Take();
  for (int i = 0; block == 0 && i < kLooks; ++i) {
    // Cold keys first: only the last look takes the blocks of a hot one.
    const From from = !may_evict ? From::kNone : i + 1 < kLooks ? From::kCold : From::kAny;
    (void)core.slots.FreeBlocks(turn.now.monotonic, turn.owner(), from);
    block = core.blocks.Take();
  }
  return block;
}

// It is not known when there will be room.
Decision StoreFull(const core::Quota& quota) {
  return {.allowed = false,
          .reason = Reason::kStoreFull,
          .limit = quota.limit,
          .remaining = 0,
          .retry_after = Decision::kUnknown};
}

}  // namespace

bool WantsSlot(const Check& check) {
  return check.cost.units > 0 && (core::ChargesDenials(check.quota.algorithm) ||
                                  check.cost.units <= core::CapacityOf(check.quota));
}

SlotArray::Newcomer NewcomerOf(TableCore& core, const Turn& turn, const Check& check,
                               const Fingerprint& key) {
  return {.key = key,
          .rule = core.rules.NumberOf(check.key.rule),
          .kind = KindOf(check.quota.algorithm),
          .now = turn.now.monotonic,
          .owner = turn.owner(),
          .may_evict = core.when_full == WhenFull::kEvict};
}

Decision DecideFull(TableCore& core, const Turn& turn, const Check& check) {
  if (core.when_full != WhenFull::kAllow) {
    TableCounters::Add(core.counters.full_denials);
    return StoreFull(check.quota);
  }
  const EntryView no_entries(core.blocks, ListState{}, EntryChange{});
  Decision decision = JudgeCheck(check.quota, RawState{}, no_entries, turn.now, check.cost,
                                 check.quota.limit - core::CeilingOf(check.quota))
                          .decision;
  if (decision.allowed) {
    TableCounters::Add(core.counters.full_allows);
    decision.degraded = true;
  }
  return decision;
}

void Draft::Load(TableCore& core, const Turn& turn, bool peek) {
  if (slot != nullptr) {
    // Holds that are over take no part in the judgement, and their places are free again.
    if (core::HasHolds(check->quota.algorithm) && StateOf(*slot) != RawState{}) {
      HoldList(core.blocks, core.slots.IndexOf(*slot), slot->state).DropExpired(turn.now.monotonic);
    }
    base = StateOf(*slot);
    if (!peek && Counts(check->quota, base, core.blocks, turn.now.monotonic)) {
      Warm(*slot);
    }
  }
  state = base;
}

Units Draft::KeptFree(const TableCore& core, const Check& asked) const {
  return asked.quota.reserves == nullptr ? 0 : HoldList::KeptFree(core.blocks, base, asked.quota);
}

EntryView Draft::ViewOf(const TableCore& core, const RawState& of,
                        const EntryChange& changed) const {
  const bool entries = BlocksOfCheck(*check) == BlockKind::kEntries;
  return {core.blocks, entries ? std::bit_cast<ListState>(of) : ListState{}, changed};
}

Decision Draft::Peek(const TableCore& core, const Turn& turn, const Check& asked) const {
  return JudgePeek(asked.quota, base, ViewOf(core, base, {}), turn.now, asked.cost,
                   KeptFree(core, asked));
}

Step Draft::Judge(const TableCore& core, const Turn& turn, const Check& asked) const {
  return JudgeCheck(asked.quota, state, ViewOf(core, state, change), turn.now, asked.cost,
                    KeptFree(core, asked));
}

bool Draft::TakeIn(TableCore& core, const Turn& turn, const Check& charged, const Step& step) {
  SLUICE_DCHECK(slot != nullptr);
  const EntryChange changed = Joined(change, step.change);
  if (!ReserveBlocks(core, turn, charged, changed)) {
    return false;
  }
  state = step.on_allow;
  change = changed;
  check = &charged;  // The latest quota says when the key is fresh.
  dirty = true;
  return true;
}

void Draft::Suppose(const Step& step) {
  state = step.on_allow;
  change = Joined(change, step.change);
}

bool Draft::ReserveBlocks(TableCore& core, const Turn& turn, const Check& asked,
                          const EntryChange& changed) {
  const BlockKind kind = BlocksOfCheck(asked);
  bool needed = false;
  if (kind == BlockKind::kEntries) {
    needed = spare == 0 && NeedsBlock(core.blocks, std::bit_cast<ListState>(base), changed);
  } else if (kind == BlockKind::kHolds) {
    const std::uint32_t room = HoldList(core.blocks, core.slots.IndexOf(*slot), base).Room();
    // The last block has room for some; beyond that every kHoldsPerBlock holds take a block.
    needed = holds >= room && (holds - room) % kHoldsPerBlock == 0;
  }
  // While the request may still be denied: once it writes, nothing may fail.
  if (needed) {
    const BlockRef block = TakeBlock(core, turn);
    if (block == 0) {
      return false;
    }
    core.blocks.at(block).set_next(spare);
    spare = block;
  }
  holds += kind == BlockKind::kHolds ? 1 : 0;
  return true;
}

void Draft::TakeBack(TableCore& core) {
  state = base;
  change = {};
  holds = 0;
  dirty = false;
  core.blocks.GiveChain(spare, 0);
  spare = 0;
}

void Draft::Save(TableCore& core, Journal& journal) const {
  journal.Save(&slot->rule, kSlotImageBytes);
  const BlockKind kind = BlocksOfCheck(*check);
  if (kind == BlockKind::kEntries) {
    SaveBlocks(core.blocks, std::bit_cast<ListState>(base), change, journal);
  } else if (kind == BlockKind::kHolds) {
    RawState before = base;
    HoldList(core.blocks, core.slots.IndexOf(*slot), before).SaveBlocks(journal);
  }
}

void Draft::Write(TableCore& core, const Turn& turn) {
  if (slot->heat.load(std::memory_order_relaxed) == kReservedHeat && base == RawState{}) {
    slot->heat.store(1, std::memory_order_relaxed);
  }
  const TableInstant expiry = ExpiryOf(check->quota, state, ViewOf(core, base, change));
  if (BlocksOfCheck(*check) == BlockKind::kEntries) {
    ListState list = std::bit_cast<ListState>(state);
    // What falls out keeps its bytes until GiveBlocks(): an undo may link it again.
    freed = Apply(core.blocks, list, core.slots.IndexOf(*slot), change, spare, &freed_end);
    state = std::bit_cast<RawState>(list);
  }
  slot->state = state;
  slot->expiry.store(ExpirySecond(expiry, turn.now.monotonic), std::memory_order_relaxed);
}

HoldId Draft::AddHold(TableCore& core, const Turn& turn, const Check& granted) {
  HoldList list(core.blocks, core.slots.IndexOf(*slot), slot->state);
  return list.Add({.units = granted.cost.units, .priority = granted.quota.priority},
                  turn.now.monotonic + granted.quota.window, base::UniqueNumber(), spare);
}

void Draft::GiveBlocks(TableCore& core) {
  core.blocks.GiveChain(freed, freed_end);
  core.blocks.GiveChain(spare, 0);
  spare = 0;
}

}  // namespace sluice::store
