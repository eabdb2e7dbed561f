#pragma once

#include <cstdint>

#include "base/random.h"
#include "store/journal.h"
#include "store/judge.h"
#include "store/key_store.h"
#include "store/table_core.h"

namespace sluice::store {

// One key of a request: where it lies, what it holds, and what it would hold if the request
// were charged. Everything here but WantsSlot() is done under the lock of `slot`.
struct Draft {
  Fingerprint key;
  const Check* check = nullptr;  // The first check on this key; once charged, the latest.
  Slot* slot = nullptr;          // nullptr: absent, judged as fresh.
  bool wants_slot = false;
  bool full = false;  // Gets no slot: there is no room, or others took it each time.
  bool dirty = false;
  RawState base;  // What is.
  // What would be.
  RawState state;
  EntryChange change;
  std::uint32_t holds = 0;
  BlockRef spare = 0;  // Taken for it; a chain.
  BlockRef freed = 0;  // Fallen out of it, up to freed_end.
  BlockRef freed_end = 0;

  // Reads what is. Drops holds that have expired.
  void Load(TableCore& core, const Turn& turn, bool peek);

  // What `asked` would get as things are; reads only.
  [[nodiscard]] Decision Peek(const TableCore& core, const Turn& turn, const Check& asked) const;
  // What `asked` gets after those that were taken in.
  [[nodiscard]] Step Judge(const TableCore& core, const Turn& turn, const Check& asked) const;

  // Takes in a step that allowed `charged`. False, with nothing changed, if there is no block left
  // for it.
  [[nodiscard]] bool TakeIn(TableCore& core, const Turn& turn, const Check& charged,
                            const Step& step);
  // The same for a peek, which will never be written: needs no slot and no block.
  void Suppose(const Step& step);
  // Forgets all that was taken in, and gives its blocks back.
  void TakeBack(TableCore& core);

  // Notes in the journal what Write() and AddHold() will overwrite.
  void Save(TableCore& core, Journal& journal) const;
  void Write(TableCore& core, const Turn& turn);
  // After Write(): the hold of a check that was charged.
  [[nodiscard]] HoldId AddHold(TableCore& core, const Turn& turn, const Check& granted);
  // Gives back what fell out and what was not needed, once the journal is retired.
  void GiveBlocks(TableCore& core);

 private:
  [[nodiscard]] EntryView ViewOf(const TableCore& core, const RawState& of,
                                 const EntryChange& changed) const;
  [[nodiscard]] bool ReserveBlocks(TableCore& core, const Turn& turn, const Check& asked,
                                   const EntryChange& changed);
  // Free slots that are kept for other priorities. What this request has taken in so far is of the
  // asking priority and changes nothing of that.
  [[nodiscard]] Units KeptFree(const TableCore& core, const Check& asked) const;
};

// What can never be charged needs no slot: a key that is absent is judged as fresh. So a flood of
// keys under a rule that denies everything takes no slots.
[[nodiscard]] bool WantsSlot(const Check& check);

// A key that `check` asks for and that has no slot yet.
[[nodiscard]] SlotArray::Newcomer NewcomerOf(TableCore& core, const Turn& turn, const Check& check,
                                             const Fingerprint& key);

// What a check gets for which there is no room, judged as on a fresh key.
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

// A slot put in for a request that must first find its others is kept from being given away
// for this long, and by this much heat.
inline constexpr Duration kReservedFor = std::chrono::seconds(2);
inline constexpr std::uint8_t kReservedHeat = 64;

}  // namespace sluice::store
