#pragma once

#include "core/ban.h"
#include "core/key.h"
#include "core/quota.h"
#include "store/slot.h"
#include "store/slot_array.h"
#include "store/table_core.h"

namespace sluice::store {

// Holds the lock of the slot that has one key's state, for the verbs that name a single key. A
// state under a former id of the key's rule moves to its own slot first; if there is no room for
// that, the slot is the former one. Inserts no slot for a fresh key.
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

// Renamed rules. A key lies under the id of its rule. Its state under a former id moves to the
// current id whenever a verb touches the key, so a key that is denied, banned or only peeked at
// until the next rename keeps its state too.
//
// Each move is journaled by itself, before the verb begins. None of these takes a lock while it
// waits for another one.

// Moves the key's state, its ban and the denials that count towards one (`ban` null: not those).
// Nothing moves if the current id has a state that counts, or if there is no room for it.
void AdoptFormer(TableCore& core, const Turn& turn, const core::KeyView& key,
                 const core::Quota& quota, const core::Ban* ban);

// Moves a state that counts under `quota` from the key `from` to the key `to`, if that has none.
void MoveState(TableCore& core, const Turn& turn, const Fingerprint& from,
               const SlotArray::Newcomer& to, const core::Quota& quota);

}  // namespace sluice::store
