#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/key.h"
#include "service/operation_parts.h"
#include "store/key_store.h"
#include "store/receipt.h"

namespace sluice::service {

// What callers do with their holds: release them, or renew them. Both may be repeated.
class HoldChange {
 public:
  enum class Kind : std::uint8_t {
    kRelease,
    kRenew,  // The hold expires the rule's hold_ttl from now.
  };
  struct NamedHold {
    core::Key key;  // Has the rule's id of when the hold was granted.
    store::GrantedHold hold;
  };

  explicit HoldChange(Operation& operation) : parts_(operation) {}

  // In.
  Kind kind = Kind::kRelease;
  std::vector<NamedHold> holds;
  // Out. How many holds were released or renewed. Holds that are gone are no failure, and neither
  // are renewals whose rule is gone. `failure` is the last one of the others.
  std::size_t done = 0;
  store::StoreError failure = store::StoreError::kNone;

  // For LimiterService.
  void Start(const OperationParts::Target& target);

 private:
  void Change(const NamedHold& named, const OperationParts::Target& target);

  OperationParts parts_;
};

}  // namespace sluice::service
