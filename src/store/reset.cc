#include "store/reset.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "store/check_steps.h"
#include "store/journal.h"
#include "store/key_guard.h"
#include "store/list_kind.h"
#include "store/use_slot.h"

namespace sluice::store {

namespace {

// As a rule in the directory of rules: what shows in lists of keys.
constexpr std::string_view kResets = "@reset";

Fingerprint MarkOfReset(const TableCore& core, std::string_view rule, const core::KeyView& key,
                        const core::Quota& quota) {
  constexpr std::uint64_t kReset = 0x2545f4914f6cdd1dULL;
  const Fingerprint own = core.hash.Of(rule, key, quota);
  return {.high = own.high, .low = own.low ^ kReset};
}

// Marks are locked last: whoever has one waits for no other lock.
bool LeaveMark(TableCore& core, const Turn& turn, const Fingerprint& mark, TableInstant until) {
  const SlotArray::Newcomer newcomer{.key = mark,
                                     .rule = core.rules.NumberOf(kResets),
                                     .kind = kMarkKind,
                                     .now = turn.now.line,
                                     .owner = turn.owner(),
                                     .may_evict = core.when_full == WhenFull::kEvict};
  for (int i = 0; i < kTries; ++i) {
    Slot* slot = core.slots.Insert(newcomer);
    if (slot == nullptr) {
      return false;
    }
    if (FingerprintOf(*slot) != mark) {
      Unlock(*slot);
      continue;
    }
    Journal journal(core.base, core.journal[turn.thread]);
    journal.Save(&slot->rule, kSlotImageBytes);
    journal.Publish();
    const std::uint32_t second =
        std::max(StateOf(*slot) == RawState{} ? 0U : slot->expiry.load(std::memory_order_relaxed),
                 ExpirySecond(until, turn.now.line));
    slot->state = {};
    // One more, so that a mark is never all zero, which a fresh key's state is.
    slot->state.words[0] = static_cast<std::uint64_t>(turn.now.line.time_since_epoch().count()) + 1;
    slot->expiry.store(second, std::memory_order_relaxed);
    journal.Retire();
    Unlock(*slot);
    return true;
  }
  return false;
}

TableInstant ResetOf(const TableCore& core, const Turn& turn, const Fingerprint& mark) {
  for (int i = 0; i < kTries; ++i) {
    Slot* slot = core.slots.Find(mark);
    if (slot == nullptr) {
      break;
    }
    Lock(*slot, turn.owner());
    const bool ours = FingerprintOf(*slot) == mark;
    const std::uint64_t at = StateOf(*slot).words[0];
    Unlock(*slot);
    if (ours) {
      return at == 0 ? TableInstant::min()
                     : TableInstant(Duration(static_cast<std::int64_t>(at - 1)));
    }
  }
  return TableInstant::min();
}

}  // namespace

bool ResetKey(TableCore& core, const Turn& turn, const ResetCall& call) {
  const auto leave_mark = [&] {
    const Duration lasts = call.remembered_for();
    return lasts <= Duration{} ||
           LeaveMark(core, turn, MarkOfReset(core, call.key.rule, call.key, call.quota),
                     turn.now.line + std::min(lasts, core::kLongestHorizon));
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
  TableInstant last = ResetOf(core, turn, MarkOfReset(core, key.rule, key, quota));
  for (const std::string& id : key.formerly) {
    last = std::max(last, ResetOf(core, turn, MarkOfReset(core, id, key, quota)));
  }
  return last;
}

}  // namespace sluice::store
