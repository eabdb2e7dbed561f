#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sluice/attribute.h"
#include "sluice/decision.h"

#include "core/key.h"
#include "store/key_store.h"

namespace sluice::service {

// What one rule charged for a request, and what became of it.
struct Charge {
  // In, as the request's verdict had it.
  std::string_view rule;
  std::span<const core::KeyPart> parts;
  store::Receipt receipt;
  Units units = 0;
  Units limit = 0;
  Units rate = 0;
  std::uint64_t shape = 0;  // core::ShapeDigest() of the quota that it was judged by.
  // Out. kNotFound: no such charge, or no such rule any more, or one of another shape.
  store::StoreError error = store::StoreError::kNone;
  Units settled = 0;
};

// Says what a request cost in the end: LimiterService::Settle() and Refund(). Rare, so it may
// allocate. Owned by its sender, alive and unmoved until OnDone(), which comes once, on the
// sending thread, during the verb or later.
class SettleCall {
 public:
  SettleCall();
  SettleCall(const SettleCall&) = delete;
  SettleCall& operator=(const SettleCall&) = delete;
  virtual ~SettleCall();

  std::span<Charge> charges;  // In and out.
  // In. `costs`: of rules that count an attribute, what that one was in the end; `cost` where it
  // is not named and for all other rules. A rule with a cost of its own keeps what it charged.
  Units cost = 0;
  Attributes costs;

  virtual void OnDone() noexcept = 0;

 private:
  friend class LimiterService;
  class Part;
  std::vector<std::unique_ptr<Part>> parts_;
  std::shared_ptr<const void> kept_;  // What the keys' names point into.
  // One more than the store calls open while they are being sent, so that the last to be answered
  // is not taken for the last of all.
  std::size_t open_ = 0;
};

}  // namespace sluice::service
