#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/attribute.h"
#include "sluice/decision.h"

#include "core/key.h"
#include "store/key_store.h"

namespace sluice::service {

// What an operator does by hand to keys: rare, so it may allocate. Owned by its sender,
// alive and unmoved until OnDone(), which comes once, on the sending thread, during the
// verb or later.

// Refund or reset of every rule that applies to `attributes`, shadow rules among them. A secret
// attribute may be given by its hash.
class OperatorCall {
 public:
  OperatorCall();
  OperatorCall(const OperatorCall&) = delete;
  OperatorCall& operator=(const OperatorCall&) = delete;
  virtual ~OperatorCall();

  // In.
  Attributes attributes;
  // Not empty: the key of this rule, whether or not its match holds; a name that no rule has is an
  // error.
  std::string_view only_rule;
  Units units = 0;  // Refund: what each rule gets back, 0 to kMaxUnits, clamped to what is used.
  // Out.
  std::size_t touched = 0;                             // How many keys the store carried it out on.
  store::StoreError error = store::StoreError::kNone;  // The last failure among the others.
  std::string request_error;                           // Not empty: the attributes were wrong.

  virtual void OnDone() noexcept = 0;

 private:
  friend class LimiterService;
  struct Work;
  std::unique_ptr<Work> work_;
};

// What a holder does with its hold: release or renew. kNotFound for a hold that is gone, so both
// may be said again.
class HolderCall : private store::HoldCall {
 public:
  // In. All views stay alive until OnDone().
  std::string_view rule;  // As it was called when the hold was granted.
  std::span<const core::KeyPart> parts;
  using store::HoldCall::hold;
  using store::HoldCall::store_id;
  using store::StoreCall::deadline;
  // Out.
  using store::StoreCall::error;

  virtual void OnDone() noexcept = 0;

 private:
  friend class LimiterService;
  void OnAnswered() noexcept final;

  std::shared_ptr<const void> kept_;  // What the key's names point into.
  std::vector<std::string> former_ids_;
};

}  // namespace sluice::service
