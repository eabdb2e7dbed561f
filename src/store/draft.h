#pragma once

#include <cstdint>

#include "base/random.h"
#include "store/journal.h"
#include "store/judge.h"
#include "store/key_store.h"
#include "store/table_core.h"

namespace sluice::store {

// One key of a request: its slot, its state, and the state that it would have if the request were
// charged. Everything here but WantsSlot() is done under the lock of `slot`.
struct Draft {
  Fingerprint key;
  const Check* check = nullptr;  // The first check on this key; after a charge, the latest.
  Slot* slot = nullptr;          // nullptr: absent, judged as fresh.
  bool wants_slot = false;
  bool full = false;  // Gets no slot: there is no room, or other threads took it each time.
  bool dirty = false;
  RawState base;  // What is.
  // What would be.
  RawState state;
  EntryChange change;
  std::uint32_t holds = 0;
  BlockRef spare = 0;  // Taken for it; a chain.
  BlockRef freed = 0;  // Fallen out of it, up to freed_end.
  BlockRef freed_end = 0;

  // Reads the current state. Drops holds that have expired.
  void Load(TableCore& core, const Turn& turn, bool peek);

  // The answer to `asked` by the current state. Reads only.
  [[nodiscard]] Decision Peek(const TableCore& core, const Turn& turn, const Check& asked) const;
  // The answer to `asked` after the checks that were accepted before it.
  [[nodiscard]] Step Judge(const TableCore& core, const Turn& turn, const Check& asked) const;

  // Accepts a step that allowed `charged`. False, with nothing changed, if there is no block left
  // for it.
  [[nodiscard]] bool TakeIn(TableCore& core, const Turn& turn, const Check& charged,
                            const Step& step);
  // The same for a peek, which will never be written: needs no slot and no block.
  void Suppose(const Step& step);
  // Discards all accepted checks, and gives their blocks back.
  void TakeBack(TableCore& core);

  // Notes in the journal what Write() and AddHold() will overwrite.
  void Save(TableCore& core, Journal& journal) const;
  void Write(TableCore& core, const Turn& turn);
  // After Write(): the hold of a check that was charged.
  [[nodiscard]] HoldId AddHold(TableCore& core, const Turn& turn, const Check& granted);
  // Gives back unused blocks and those that fell out, once the journal is retired.
  void GiveBlocks(TableCore& core);

 private:
  [[nodiscard]] EntryView ViewOf(const TableCore& core, const RawState& of,
                                 const EntryChange& changed) const;
  [[nodiscard]] bool ReserveBlocks(TableCore& core, const Turn& turn, const Check& asked,
                                   const EntryChange& changed);
  // Free slots that are reserved for other priorities. What this request has taken so far belongs
  // to its own priority and changes nothing of that.
  [[nodiscard]] Units KeptFree(const TableCore& core, const Check& asked) const;
};

// A check that can never be charged needs no slot: an absent key is judged as fresh. So a flood of
// keys under a rule that denies everything takes no slots.
[[nodiscard]] bool WantsSlot(const Check& check);

// A key that `check` names and that has no slot yet.
[[nodiscard]] SlotArray::Newcomer NewcomerOf(TableCore& core, const Turn& turn, const Check& check,
                                             const Fingerprint& key);

// The answer to a check for which there is no room, judged as on a fresh key.
[[nodiscard]] Decision DecideFull(TableCore& core, const Turn& turn, const Check& check);

inline void Charged(const TableCore& core, const Turn& turn, const Check& check,
                    CheckAnswer& answer) {
  answer.charged = true;
  if (check.want_receipt) {
    answer.receipt = {.charged_at_ns = turn.now.monotonic.time_since_epoch().count(),
                      .nonce = base::UniqueNumber(),
                      .store_id = core.id};
  }
}

// A slot that is inserted for a request which must still find its other slots: for this long, and
// by this much heat, it is protected from eviction.
inline constexpr Duration kReservedFor = std::chrono::seconds(2);
inline constexpr std::uint8_t kReservedHeat = 64;

}  // namespace sluice::store
