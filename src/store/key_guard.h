#pragma once

#include "core/key.h"
#include "core/quota.h"
#include "store/slot.h"
#include "store/table_core.h"

namespace sluice::store {

// Holds the lock of the slot that has one key's state, for the verbs that name a single key. What
// the key has under a former id of its rule moves to its own first; where there is no room for
// that, the slot is the former one. Makes no slot for a key that is fresh.
class KeyGuard {
 public:
  KeyGuard(TableCore& core, const Turn& turn, const core::KeyView& key, const core::Quota& quota);
  KeyGuard(const KeyGuard&) = delete;
  KeyGuard& operator=(const KeyGuard&) = delete;
  ~KeyGuard();

  // nullptr if the key is fresh.
  [[nodiscard]] Slot* slot() const { return slot_; }

 private:
  // False, with nothing locked, if the key has no state that counts.
  [[nodiscard]] bool LockLive(TableCore& core, const Turn& turn, const Fingerprint& key,
                              const core::Quota& quota);

  Slot* slot_ = nullptr;
};

}  // namespace sluice::store
