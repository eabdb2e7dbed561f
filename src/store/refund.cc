#include "store/refund.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "store/block.h"
#include "store/decide_one.h"
#include "store/judge.h"
#include "store/key_guard.h"
#include "store/mark.h"
#include "store/request.h"
#include "store/table_core.h"

namespace sluice::store {

using core::Quota;

namespace {

// As a rule in the directory of rules: what shows in lists of keys.
constexpr std::string_view kResets = "@reset";

// When the key with this mark was last reset; TableInstant::min() if it never was.
TableInstant ResetOf(const TableCore& core, const Turn& turn, const Fingerprint& mark) {
  const auto at = FindMark(core, turn, mark);
  return at ? TableInstant(Duration(static_cast<std::int64_t>(*at))) : TableInstant::min();
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
  slot.expiry.store(std::max(ExpirySecond(expiry, turn.now.monotonic), 1U),
                    std::memory_order_relaxed);
  journal.Retire();
  if (start.block != before.head) {
    pool.GiveChain(before.head, start.block);
  }
  pool.GiveChain(behind, 0);
}

void WriteRefund(TableCore& core, const Turn& turn, Slot& slot, const Quota& quota,
                 const RefundStep& step) {
  const EntryView none(core.blocks, ListState{}, {});
  const std::uint32_t expiry = ExpirySecond(ExpiryOf(quota, step.state, none), turn.now.monotonic);
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

// As a rule in the directory of rules: what shows in lists of keys.
constexpr std::string_view kMarks = "@settled";

class ForcedCall final : public CheckCall {
 public:
  void OnAnswered() noexcept override {}
};

// Charges the key whatever its limit: what is above it is paid back before the next grant.
void Force(TableCore& core, const Turn& turn, const SettleCall& call, Units units) {
  Check check{.key = call.key, .quota = call.quota, .cost = {.units = units}};
  check.quota.limit = kMaxUnits;
  CheckAnswer answer;
  ForcedCall forced;
  forced.checks = {&check, 1};
  forced.answers = {&answer, 1};
  AdoptFormer(core, turn, call.key, call.quota, nullptr);
  const Fingerprint key = core.hash.Of(call.key.rule, call.key, call.quota);
  if (IsPlain(forced)) {
    DecideOne(core, turn, forced, key);
  } else {
    Request(core, turn, forced, {&key, 1}).Decide();
  }
}

}  // namespace

bool ResetKey(TableCore& core, const Turn& turn, const ResetCall& call,
              const std::function<TableNow()>& read_time) {
  const Duration lasts = std::min(call.remembered_for(), core::kLongestHorizon);
  const auto leave_mark = [&] {
    if (lasts <= Duration{}) {
      return true;
    }
    const Turn now{.now = read_time(), .thread = turn.thread};
    const Mark mark{
        .fingerprint = core.hash.OfReset(call.key.rule, call.key, call.quota),
        .rule = kResets,
        .number = static_cast<std::uint64_t>(now.now.monotonic.time_since_epoch().count()),
        .until = now.now.monotonic + lasts};
    return WriteMark(core, now, mark, ExistingMark::kGrows).has_value();
  };
  if (!call.key.formerly.empty()) {
    // What lies under former ids goes first: no state from before the reset moves to the own id
    // behind it.
    if (!leave_mark()) {
      return false;
    }
    for (const std::string& id : call.key.formerly) {
      UseSlot(core, turn, core.hash.Of(id, call.key, call.quota),
              [&core](Slot& slot) { core.slots.Clear(slot); });
    }
  }
  const KeyGuard guard(core, turn, call.key, call.quota);
  // The time of the mark is read under the key's lock. A charge that had the lock earlier has read
  // its own time earlier, so no receipt from before the reset is later than the mark.
  if (!leave_mark()) {
    return false;
  }
  if (guard.slot() != nullptr) {
    core.slots.Clear(*guard.slot());
  }
  return true;
}

TableInstant LastReset(const TableCore& core, const Turn& turn, const core::KeyView& key,
                       const core::Quota& quota) {
  TableInstant last = ResetOf(core, turn, core.hash.OfReset(key.rule, key, quota));
  for (const std::string& id : key.formerly) {
    last = std::max(last, ResetOf(core, turn, core.hash.OfReset(id, key, quota)));
  }
  return last;
}

TableInstant UsedUntil(const Quota& quota, TableInstant charged, const TableNow& now) {
  // The wall clock at the charge, as far as the monotonic one can tell.
  return charged + core::CountsFor(quota, now.wall_clock - (now.monotonic - charged));
}

void RefundKey(TableCore& core, const Turn& turn, const core::KeyView& key,
               const core::Quota& quota, Units units, TableInstant charged) {
  if (units <= 0 || quota.unlimited) {
    return;
  }
  const KeyGuard guard(core, turn, key, quota);
  Slot* slot = guard.slot();
  // The marks are read under the key's lock, which a reset takes too.
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

void SettleCharge(TableCore& core, const Turn& turn, SettleCall& call) {
  const TableNow& now = turn.now;
  const TableInstant charged{Duration(call.receipt.charged_at_ns)};
  if (call.receipt.nonce == 0 || call.receipt.store_id != core.id || charged < TableInstant{} ||
      charged > now.monotonic || call.quota.unlimited || call.units < 0 || call.charged < 0) {
    call.error = StoreError::kNotFound;
    return;
  }
  // What was charged before a reset counted until then.
  const TableInstant reset = LastReset(core, turn, call.key, call.quota);
  const TableInstant used_until = charged <= reset ? reset : UsedUntil(call.quota, charged, now);
  const TableInstant open_until = call.open_for == Duration{}
                                      ? used_until
                                      : charged + std::min(call.open_for, core::kLongestHorizon);
  call.settled = call.charged;
  if (now.monotonic >= std::max(used_until, open_until)) {
    return;  // Nothing could change any more, and so nothing need be remembered.
  }
  if (now.monotonic < open_until) {
    call.settled = call.units;
  }
  const auto mark = WriteMark(core, turn,
                              {.fingerprint = core.hash.OfSettled(call.receipt),
                               .rule = kMarks,
                               .number = static_cast<std::uint64_t>(call.settled),
                               .until = std::max(used_until, open_until)},
                              ExistingMark::kStays);
  if (!mark) {
    call.error = StoreError::kUnavailable;
    return;
  }
  if (!mark->is_new) {
    call.settled = static_cast<Units>(mark->number);  // At what it was settled before.
    return;
  }
  if (call.settled < call.charged && now.monotonic < used_until) {
    RefundKey(core, turn, call.key, call.quota, call.charged - call.settled, charged);
  } else if (call.settled > call.charged) {
    Force(core, turn, call, call.settled - call.charged);
  }
}

}  // namespace sluice::store
