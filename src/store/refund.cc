#include "store/refund.h"

#include <algorithm>
#include <bit>

#include "store/block.h"
#include "store/judge.h"
#include "store/key_guard.h"
#include "store/reset.h"

namespace sluice::store {

using core::Quota;

TableInstant UsedUntil(const Quota& quota, TableInstant charged, const TableNow& now) {
  // The wall clock at the charge, as far as the monotonic one can tell.
  return charged + core::CountsFor(quota, now.wall - (now.line - charged));
}

namespace {

// Takes units off a key with entries: the oldest that no longer count, then the newest.
void WriteListRefund(TableCore& core, const Turn& turn, Slot& slot, const Quota& quota,
                     const RefundStep& step) {
  BlockPool& pool = core.blocks;
  const ListState before = std::bit_cast<ListState>(slot.state);
  const TailCut cut = CutNewest(pool, before, step.drop, step.take);
  if (cut.tail == 0) {
    core.slots.Clear(slot);
    return;
  }
  const EntryView::Position start = EntryView::StartOf(pool, before, step.drop);
  Block& first = pool.at(start.block);
  Block& last = pool.at(cut.tail);
  const std::uint32_t last_begin = cut.tail == start.block ? start.index : last.first();
  const std::uint32_t newest = last_begin + cut.count - 1;
  Journal journal(core.base, core.journal[turn.thread]);
  journal.Save(&slot.rule, kSlotImageBytes);
  journal.Save(&first, kBlockHeadBytes);
  journal.Save(&last, kBlockHeadBytes);
  journal.Save(last.place_of_entry(newest), sizeof(core::Entry));
  journal.Publish();
  first.set_count(first.first() + first.count() - start.index);
  first.set_first(start.index);
  first.set_prev(0);
  const BlockRef behind = last.next();
  last.set_count(cut.count);
  last.set_next(0);
  last.set_entry(newest, {.at = last.entry(newest).at, .units = cut.last_units});
  ListState after = std::bit_cast<ListState>(step.state);
  after.head = start.block;
  after.tail = cut.tail;
  slot.state = std::bit_cast<RawState>(after);
  const TableInstant expiry = ExpiryOf(quota, slot.state, EntryView(pool, after, {}));
  slot.expiry.store(std::max(ExpirySecond(expiry, turn.now.line), 1U), std::memory_order_relaxed);
  journal.Retire();
  if (start.block != before.head) {
    pool.GiveChain(before.head, start.block);
  }
  pool.GiveChain(behind, 0);
}

void WriteRefund(TableCore& core, const Turn& turn, Slot& slot, const Quota& quota,
                 const RefundStep& step) {
  const EntryView none(core.blocks, ListState{}, {});
  const std::uint32_t expiry = ExpirySecond(ExpiryOf(quota, step.state, none), turn.now.line);
  if (expiry == 0) {
    core.slots.Clear(slot);
    return;
  }
  Journal journal(core.base, core.journal[turn.thread]);
  journal.Save(&slot.rule, kSlotImageBytes);
  journal.Publish();
  slot.state = step.state;
  slot.expiry.store(expiry, std::memory_order_relaxed);
  journal.Retire();
}

}  // namespace

void RefundKey(TableCore& core, const Turn& turn, const core::KeyView& key,
               const core::Quota& quota, Units units, TableInstant charged) {
  if (units <= 0 || quota.unlimited) {
    return;
  }
  const KeyGuard guard(core, turn, key, quota);
  Slot* slot = guard.slot();
  // The marks are read under the key's lock, which whoever resets it takes, too.
  if (slot == nullptr || (charged != kNoCharge && charged <= LastReset(core, turn, key, quota))) {
    return;
  }
  const bool entries = BlocksOf(slot->kind) == BlockKind::kEntries;
  const EntryView view(core.blocks, entries ? std::bit_cast<ListState>(slot->state) : ListState{},
                       {});
  const RefundStep step = JudgeRefund(quota, slot->state, view, turn.now, units);
  if (entries) {
    WriteListRefund(core, turn, *slot, quota, step);
  } else {
    WriteRefund(core, turn, *slot, quota, step);
  }
}

}  // namespace sluice::store
