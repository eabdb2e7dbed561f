#include <bit>

#include "core/calendar.h"
#include "core/tally.h"
#include "core/wide.h"
#include "store/hold_list.h"
#include "store/judge.h"
#include "store/key_guard.h"
#include "store/list_kind.h"
#include "store/table.h"

// The verbs on one key: refund, reset, release.
namespace sluice::store {

namespace {

using core::Algorithm;
using core::Quota;

// When what was charged at `charged` stops counting anyway: a refund comes too late then.
TableInstant UsedUntil(const Quota& quota, TableInstant charged, const TableNow& now) {
  if (core::IsBucket(quota.algorithm)) {
    if (quota.rate == 0) {
      return TableInstant::max();
    }
    const auto refill = static_cast<Uint128>(quota.limit) *
                        static_cast<Uint128>(quota.window.count()) /
                        static_cast<Uint128>(quota.rate);
    return charged + Duration(static_cast<std::int64_t>(refill));
  }
  if (quota.algorithm == Algorithm::kFixedWindow || quota.algorithm == core::kTally) {
    // The wall at the charge, as far as the line can tell, and the end of its window.
    const WallInstant then = now.wall - (now.line - charged);
    if (quota.calendar != nullptr) {
      return charged + (quota.calendar->At(then).end - then);
    }
    const Duration past(core::PastMultiple(then.time_since_epoch().count(), quota.window.count()));
    return charged + (quota.window - past);
  }
  return charged + quota.window;
}

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
  core::Entry& newest = last.entry(last_begin + cut.count - 1);
  Journal journal(core.base, core.journal[turn.thread]);
  journal.Save(&slot.rule, kSlotImageBytes);
  journal.Save(&first, kBlockHeadBytes);
  journal.Save(&last, kBlockHeadBytes);
  journal.Save(&newest, sizeof(newest));
  journal.Publish();
  first.set_count(first.first() + first.count() - start.index);
  first.set_first(start.index);
  first.set_prev(0);
  const BlockRef behind = last.next();
  last.set_count(cut.count);
  last.set_next(0);
  newest.units = cut.last_units;
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

void RefundKey(TableCore& core, const Turn& turn, const RefundCall& call) {
  if (call.units <= 0 || call.quota.unlimited) {
    return;
  }
  if (call.receipt != nullptr) {
    const TableInstant charged{Duration(call.receipt->charged_at_ns)};
    const bool possible =  // No table's line begins before 1970.
        call.receipt->nonce != 0 && charged >= TableInstant{} && charged <= turn.now.line;
    if (!possible || turn.now.line >= UsedUntil(call.quota, charged, turn.now)) {
      return;
    }
  }
  const KeyGuard guard(core, turn, call.key, call.quota);
  Slot* slot = guard.Live();
  if (slot == nullptr) {
    return;
  }
  const bool entries = BlocksOf(slot->kind) == BlockKind::kEntries;
  const EntryView view(core.blocks, entries ? std::bit_cast<ListState>(slot->state) : ListState{},
                       {});
  const RefundStep step = JudgeRefund(call.quota, slot->state, view, turn.now, call.units);
  if (entries) {
    WriteListRefund(core, turn, *slot, call.quota, step);
  } else {
    WriteRefund(core, turn, *slot, call.quota, step);
  }
}

}  // namespace

void Table::Refund(RefundCall& call) {
  Turn turn;
  if (Begin(turn, call)) {
    if (call.quota.algorithm == Algorithm::kConcurrency) {
      call.error = StoreError::kUnsupported;  // Holds are released, not refunded.
    } else {
      RefundKey(core_, turn, call);
    }
  }
  call.OnAnswered();
}

void Table::Reset(ResetCall& call) {
  Turn turn;
  if (Begin(turn, call)) {
    const KeyGuard guard(core_, turn, call.key, call.quota);
    for (Slot* slot : {guard.own(), guard.former()}) {
      if (slot != nullptr) {
        core_.slots.Clear(*slot);
      }
    }
  }
  call.OnAnswered();
}

template <class Use>
void Table::UseHold(HoldCall& call, Use use) {
  Turn turn;
  if (Begin(turn, call)) {
    call.error = StoreError::kNotFound;
    if (call.quota.algorithm == Algorithm::kConcurrency) {
      const KeyGuard guard(core_, turn, call.key, call.quota);
      for (Slot* slot : {guard.own(), guard.former()}) {
        if (slot == nullptr || slot->expiry.load(std::memory_order_relaxed) == 0) {
          continue;
        }
        HoldList holds(core_.blocks, core_.slots.IndexOf(*slot), slot->state);
        holds.DropExpired(turn.now.line);
        if (use(holds, turn, *slot)) {
          call.error = StoreError::kNone;
        }
        if (slot->state == RawState{}) {
          slot->expiry.store(0, std::memory_order_relaxed);
        }
      }
    }
  }
  call.OnAnswered();
}

void Table::Release(HoldCall& call) {
  UseHold(call, [&call](HoldList& holds, const Turn&, Slot&) { return holds.Release(call.hold); });
}

void Table::Renew(HoldCall& call) {
  UseHold(call, [&call](HoldList& holds, const Turn& turn, Slot& slot) {
    const TableInstant expiry = turn.now.line + call.quota.window;
    // First the slot: it is never given away while a hold of it counts.
    const std::uint32_t second = ExpirySecond(expiry, turn.now.line);
    if (slot.expiry.load(std::memory_order_relaxed) < second) {
      slot.expiry.store(second, std::memory_order_relaxed);
    }
    return holds.Renew(call.hold, expiry);
  });
}

}  // namespace sluice::store
