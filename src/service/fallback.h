#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "sluice/decision.h"

#include "core/quota.h"
#include "rules/rule.h"
#include "service/denial_memory.h"
#include "service/service_metrics.h"
#include "store/key_store.h"

namespace sluice::service {

// The decision of a check without the store, and how it is counted.
struct FailedCheck {
  Decision decision;
  Outcome outcome = Outcome::kDegradedAllowed;
};

// Decides a check that the store did not answer. The only place that chooses between failing open,
// failing closed and limiting in this process. Each policy has its own counter.
//
//   allow  Allowed, degraded. The default: a limiter must not become the outage.
//   deny   Denied, degraded, kStoreUnavailable: 503 and never 429, for the caller has used up
//          nothing. When the store comes back is unknown.
//   local  Fallback limits in a table of this process, by this node's share of the quota. Without a
//          Fallback it decides like allow, and is counted apart.
//   fail   Not decided here: the request fails (ChargeCall::failed()).
//
// Denials of the store that are still valid come before all of these (Fallback).
//
// `quota`: by which the store would have judged. An allowed decision shows the whole quota as
// remaining, and does not govern a verdict that has numbers (verdict.h). Pure.
[[nodiscard]] FailedCheck DecideWithoutStore(rules::OnStoreError policy, const core::Quota& quota);

// One check that the store did not answer.
struct UnansweredCheck {
  const store::Check* check = nullptr;
  rules::OnStoreError policy = rules::OnStoreError::kAllow;  // Not kFail.
  // Out.
  FailedCheck failed{};
  bool charged = false;
  store::HoldId hold = 0;
  store::StoreId store_id = 0;  // Of the hold.
};

// Whether it denies the request.
[[nodiscard]] inline bool Denies(const UnansweredCheck& unanswered) {
  return !unanswered.check->shadow && !unanswered.failed.decision.allowed;
}

// Reused from request to request, so that a warm fallback allocates nothing.
struct FallbackRoom {
  std::vector<UnansweredCheck> unanswered;
  std::vector<store::Check> checks;
  std::vector<store::CheckAnswer> answers;
};

// Decides in place of a store across a network while it is unreachable: by remembered denials, and
// for on_store_error: local by a table of this node. In that table a key has this node's share of
// its quota, rounded up. All nodes of the last count have the same share. The use counted there is
// kept when the store returns and fails again. Any thread.
class Fallback {
 public:
  // Both outlive it. `local` answers during the verb.
  Fallback(store::KeyStore& local, const std::atomic<int>& nodes) : local_(local), nodes_(nodes) {}

  // For checks that only this node judges: CL.THROTTLE.
  [[nodiscard]] store::KeyStore& local() { return local_; }

  // Remembers a denial of the store.
  void Remember(const store::Check& check, const Decision& denial) {
    denials_.Remember(check.key, check.quota, check.cost, denial, Now());
  }

  // The denial of the store that decides such a check while the store is away. nullopt: there is
  // none, and the rule's on_store_error decides.
  [[nodiscard]] std::optional<Decision> Remembered(const core::KeyView& key,
                                                   const core::Quota& quota, Cost cost) const {
    return denials_.Find(key, quota, cost, Now());
  }

  // Decides room.unanswered, all of one request. `charge`: whether they may be charged at all: the
  // rest of the request allows, and it is no peek. Under kAll a denial among them charges nothing
  // either.
  void Decide(store::Atomicity atomicity, bool charge, FallbackRoom& room);

  // Does the same to this node's state, after the store reset a key, lifted its ban or gave units
  // back.
  void Reset(const core::KeyView& key, const core::Quota& quota);
  void Unban(const core::KeyView& key, const core::Quota& quota);
  void Forget(const core::KeyView& key, const core::Quota& quota) { denials_.Forget(key, quota); }
  // False: the local table does not have the hold.
  [[nodiscard]] bool Release(const store::HoldCall& hold);
  [[nodiscard]] bool Renew(const store::HoldCall& hold);

 private:
  [[nodiscard]] static DenialMemory::Time Now() { return std::chrono::steady_clock::now(); }
  // This node's share of it.
  [[nodiscard]] core::Quota ShareOf(const core::Quota& quota) const;
  void DecideLocally(store::Atomicity atomicity, bool charge, FallbackRoom& room);

  store::KeyStore& local_;
  const std::atomic<int>& nodes_;
  DenialMemory denials_;
};

}  // namespace sluice::service
