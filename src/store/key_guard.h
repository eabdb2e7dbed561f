#pragma once

#include "core/key.h"
#include "core/quota.h"
#include "store/slot.h"
#include "store/table_core.h"

namespace sluice::store {

// Holds the locks of one key's slot, and of the one under its former id, for the verbs that
// name a single key. Makes no slot: a key that is absent is fresh.
class KeyGuard {
 public:
  KeyGuard(TableCore& core, const Turn& turn, const core::KeyView& key, const core::Quota& quota);
  KeyGuard(const KeyGuard&) = delete;
  KeyGuard& operator=(const KeyGuard&) = delete;
  ~KeyGuard();

  // Where the key's state is; nullptr if it is fresh.
  [[nodiscard]] Slot* Live() const;
  [[nodiscard]] Slot* own() const { return own_; }
  [[nodiscard]] Slot* former() const { return former_; }

 private:
  [[nodiscard]] bool TryBoth(TableCore& core, const Fingerprint& key, const Fingerprint* former);
  void Release();

  const TableCore& core_;
  const Turn& turn_;
  const core::Quota& quota_;
  Slot* own_ = nullptr;
  Slot* former_ = nullptr;
};

}  // namespace sluice::store
