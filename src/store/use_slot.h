#pragma once

#include "store/check_steps.h"
#include "store/table_core.h"

namespace sluice::store {

// Runs `use` on the key's slot under its lock, if it has one.
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
