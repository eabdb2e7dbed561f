#pragma once

#include <atomic>
#include <chrono>
#include <span>
#include <vector>

#include "core/quota.h"
#include "rules/rule.h"
#include "service/denial_memory.h"
#include "service/failure_policy.h"
#include "store/key_store.h"

namespace sluice::service {

// One check that the store did not answer.
struct UnansweredCheck {
  const store::Check* check = nullptr;
  rules::OnStoreError policy = rules::OnStoreError::kAllow;
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

// The room that answering takes, reused from request to request.
struct FallbackRoom {
  std::vector<UnansweredCheck> unanswered;
  std::vector<store::Check> checks;
  std::vector<store::CheckAnswer> answers;
};

// What a node with a store across a network goes by while that store is away: the denials that it
// remembers, and its own table for rules that say on_store_error: local. There every key has this
// node's share of its quota, rounded up: as many nodes as were counted last share it evenly. What
// was used there stays used when the store comes and goes. Any thread.
class Fallback {
 public:
  // Both outlive it. `local` answers during the verb.
  Fallback(store::KeyStore& local, const std::atomic<int>& nodes) : local_(local), nodes_(nodes) {}

  // Where checks that only this node can judge go: CL.THROTTLE.
  [[nodiscard]] store::KeyStore& local() { return local_; }

  // The store's own denial, which may be needed later.
  void Remember(const store::Check& check, const Decision& denial) {
    denials_.Remember(check.key, check.quota, check.cost, denial, Now());
  }

  // Decides room.unanswered, all of one request. `charge`: whether the rest of the request allows;
  // else, or where one of these denies, nothing is charged.
  void Decide(FallbackRoom& room, bool charge);

  // The key was reset, its ban was lifted, or it got units back: the same here.
  void Reset(const core::KeyView& key, const core::Quota& quota);
  void Unban(const core::KeyView& key, const core::Quota& quota);
  void Forget(const core::KeyView& key, const core::Quota& quota) { denials_.Forget(key, quota); }
  // Whether the hold was one of the local table's, and so is carried out.
  [[nodiscard]] bool Release(const store::HoldCall& hold);
  [[nodiscard]] bool Renew(const store::HoldCall& hold);

 private:
  [[nodiscard]] static DenialMemory::Time Now() { return std::chrono::steady_clock::now(); }
  // This node's part of it.
  [[nodiscard]] core::Quota ShareOf(const core::Quota& quota) const;
  void DecideLocally(FallbackRoom& room, bool charge);

  store::KeyStore& local_;
  const std::atomic<int>& nodes_;
  DenialMemory denials_;
};

}  // namespace sluice::service
