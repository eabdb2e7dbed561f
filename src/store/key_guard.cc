#include "store/key_guard.h"

#include <algorithm>

#include "store/judge.h"

namespace sluice::store {

KeyGuard::KeyGuard(TableCore& core, const Turn& turn, const core::KeyView& key,
                   const core::Quota& quota)
    : core_(core), turn_(turn), quota_(quota) {
  const Fingerprint own = core.hash.Of(key.rule, key, quota);
  Fingerprint former;
  const bool has_former = !key.formerly.empty() && key.formerly != key.rule;
  if (has_former) {
    former = core.hash.Of(key.formerly, key, quota);
  }
  while (!TryBoth(core, own, has_former ? &former : nullptr)) {
  }
}

KeyGuard::~KeyGuard() {
  Release();
}

// False if one of them was given away between finding and locking it, or if another thread may
// meanwhile have moved the state from the former id to the own one.
bool KeyGuard::TryBoth(TableCore& core, const Fingerprint& key, const Fingerprint* former) {
  own_ = core.slots.Find(key);
  former_ = former == nullptr ? nullptr : core.slots.Find(*former);
  for (Slot* slot : {std::min(own_, former_), std::max(own_, former_)}) {  // By address.
    if (slot != nullptr) {
      Lock(*slot, turn_.owner());
    }
  }
  const bool moved = own_ == nullptr && former_ != nullptr && core.slots.Find(key) != nullptr;
  if (moved || (own_ != nullptr && FingerprintOf(*own_) != key) ||
      (former_ != nullptr && FingerprintOf(*former_) != *former)) {
    Release();
    return false;
  }
  return true;
}

void KeyGuard::Release() {
  for (Slot* slot : {own_, former_}) {
    if (slot != nullptr) {
      Unlock(*slot);
    }
  }
  own_ = nullptr;
  former_ = nullptr;
}

Slot* KeyGuard::Live() const {
  for (Slot* slot : {own_, former_}) {
    if (slot != nullptr && Counts(quota_, StateOf(*slot), core_.blocks, turn_.now.line)) {
      return slot;
    }
  }
  return nullptr;
}

}  // namespace sluice::store
