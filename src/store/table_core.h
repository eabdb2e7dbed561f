#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sluice/limiter.h"

#include "store/block_pool.h"
#include "store/journal.h"
#include "store/key_hash.h"
#include "store/key_store.h"
#include "store/rule_directory.h"
#include "store/slot_array.h"

namespace sluice::store {

// The parts of a table that its verbs share.
struct TableCore {
  KeyHash hash;
  StoreId id = 0;  // Of this table, wherever it is loaded.
  RuleDirectory rules;
  BlockPool blocks;
  TableCounters counters;
  SlotArray slots;
  std::byte* base = nullptr;
  std::span<JournalRecord> journal;
  WhenFull when_full = WhenFull::kEvict;
};

// The thread that works on the table, and its one reading of the clock.
struct Turn {
  TableNow now;
  std::uint32_t thread = 0;

  [[nodiscard]] std::uint32_t owner() const { return thread + 1; }
};

// How often a request starts again because other threads took its slots before it had locked them.
inline constexpr int kTries = 64;

// Calls `use` on the key's slot under its lock, if it has one.
template <class Use>
void UseSlot(const TableCore& core, const Turn& turn, const Fingerprint& key, Use use) {
  for (int i = 0; i < kTries; ++i) {
    Slot* slot = core.slots.Find(key);
    if (slot == nullptr) {
      return;
    }
    Lock(*slot, turn.owner());
    const bool ours = FingerprintOf(*slot) == key;
    if (ours) {
      use(*slot);
    }
    Unlock(*slot);
    if (ours) {
      return;
    }
  }
}

}  // namespace sluice::store
