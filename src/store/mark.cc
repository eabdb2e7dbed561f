#include "store/mark.h"

#include <algorithm>

#include "store/block.h"
#include "store/journal.h"
#include "store/table_core.h"

namespace sluice::store {

namespace {

// A slot keeps one more than the number: all zero is the state of a fresh key.
std::optional<std::uint64_t> NumberIn(const Slot& slot) {
  const std::uint64_t word = StateOf(slot).words[0];
  return word == 0 ? std::nullopt : std::optional(word - 1);
}

void PutNumber(TableCore& core, const Turn& turn, Slot& slot, std::uint64_t number,
               std::uint32_t expiry) {
  Journal journal(core.base, core.journal[turn.thread]);
  journal.Save(&slot.rule, kSlotImageBytes);
  journal.Publish();
  slot.state = {};
  slot.state.words[0] = number + 1;
  slot.expiry.store(expiry, std::memory_order_relaxed);
  journal.Retire();
}

}  // namespace

std::optional<WrittenMark> WriteMark(TableCore& core, const Turn& turn, const Mark& mark,
                                     ExistingMark existing) {
  const SlotArray::Newcomer newcomer{.key = mark.fingerprint,
                                     .rule = core.rules.NumberOf(mark.rule),
                                     .kind = kMarkKind,
                                     .now = turn.now.monotonic,
                                     .owner = turn.owner(),
                                     .may_evict = core.when_full == WhenFull::kEvict};
  for (int i = 0; i < kTries; ++i) {
    Slot* slot = core.slots.Insert(newcomer);
    if (slot == nullptr) {
      return std::nullopt;
    }
    if (FingerprintOf(*slot) != mark.fingerprint) {
      Unlock(*slot);
      continue;
    }
    WrittenMark written{.number = mark.number};
    std::uint32_t expiry = ExpirySecond(mark.until, turn.now.monotonic);
    if (const auto before = NumberIn(*slot)) {
      written.is_new = existing == ExistingMark::kGrows;
      written.number = written.is_new ? std::max(*before, mark.number) : *before;
      expiry = std::max(expiry, slot->expiry.load(std::memory_order_relaxed));
    }
    if (written.is_new) {
      PutNumber(core, turn, *slot, written.number, expiry);
    }
    Unlock(*slot);
    return written;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> FindMark(const TableCore& core, const Turn& turn,
                                      const Fingerprint& fingerprint) {
  std::optional<std::uint64_t> number;
  UseSlot(core, turn, fingerprint, [&number](const Slot& slot) { number = NumberIn(slot); });
  return number;
}

}  // namespace sluice::store
