#include "store/key_guard.h"

#include <algorithm>

#include "store/former_keys.h"
#include "store/judge.h"

namespace sluice::store {

KeyGuard::KeyGuard(TableCore& core, const Turn& turn, const core::KeyView& key,
                   const core::Quota& quota) {
  AdoptFormer(core, turn, key, quota, nullptr);
  if (!LockLive(core, turn, core.hash.Of(key.rule, key, quota), quota)) {
    (void)std::ranges::any_of(key.formerly, [&](const std::string& id) {
      return LockLive(core, turn, core.hash.Of(id, key, quota), quota);
    });
  }
}

KeyGuard::~KeyGuard() {
  if (slot_ != nullptr) {
    Unlock(*slot_);
  }
}

bool KeyGuard::LockLive(TableCore& core, const Turn& turn, const Fingerprint& key,
                        const core::Quota& quota) {
  for (;;) {
    Slot* slot = core.slots.Find(key);
    if (slot == nullptr) {
      return false;
    }
    Lock(*slot, turn.owner());
    const bool ours = FingerprintOf(*slot) == key;
    if (ours && Counts(quota, StateOf(*slot), core.blocks, turn.now.line)) {
      slot_ = slot;
      return true;
    }
    Unlock(*slot);
    if (ours) {
      return false;
    }
  }
}

}  // namespace sluice::store
