#include "service/fallback.h"

#include <algorithm>
#include <cstddef>

#include "base/assert.h"

namespace sluice::service {

namespace {

// A call that the local table answers during the verb.
template <class Call>
class OnTheSpot final : public Call {
 public:
  void OnAnswered() noexcept override { answered = true; }

  bool answered = false;
};

Units PartOf(Units whole, Units nodes) {
  return whole / nodes + (whole % nodes != 0 ? 1 : 0);
}

bool CarryOut(store::KeyStore& local, void (store::KeyStore::*verb)(store::HoldCall&),
              const store::HoldCall& hold) {
  OnTheSpot<store::HoldCall> call;
  call.key = hold.key;
  call.quota = hold.quota;
  call.hold = hold.hold;
  call.store_id = hold.store_id;
  (local.*verb)(call);
  SLUICE_ASSERT(call.answered);
  return call.error == store::StoreError::kNone;
}

bool IsLocal(const UnansweredCheck& unanswered) {
  return unanswered.policy == rules::OnStoreError::kLocal;
}

}  // namespace

FailedCheck DecideWithoutStore(rules::OnStoreError policy, const core::Quota& quota) {
  const Units limit = quota.unlimited ? kUnlimited : quota.limit;
  Decision decision;
  decision.degraded = true;
  decision.limit = limit;
  if (policy == rules::OnStoreError::kDeny) {
    decision.allowed = false;
    decision.reason = Reason::kStoreUnavailable;
    decision.retry_after = Decision::kUnknown;
    return {.decision = decision, .outcome = Outcome::kDegradedDenied};
  }
  decision.allowed = true;
  decision.remaining = limit;
  return {.decision = decision,
          .outcome = policy == rules::OnStoreError::kLocal ? Outcome::kDegradedLocal
                                                           : Outcome::kDegradedAllowed};
}

core::Quota Fallback::ShareOf(const core::Quota& quota) const {
  const Units nodes = std::max(1, nodes_.load(std::memory_order_relaxed));
  core::Quota share = quota;
  share.limit = PartOf(quota.limit, nodes);
  share.rate = PartOf(quota.rate, nodes);
  return share;
}

void Fallback::Decide(store::Atomicity atomicity, bool charge, FallbackRoom& room) {
  bool any_local = false;
  for (UnansweredCheck& unanswered : room.unanswered) {
    const store::Check& check = *unanswered.check;
    unanswered.failed = DecideWithoutStore(unanswered.policy, check.quota);
    if (check.quota.unlimited) {
      unanswered.policy = rules::OnStoreError::kAllow;
    } else if (const auto denied = denials_.Find(check.key, check.quota, check.cost, Now())) {
      unanswered.failed = {.decision = *denied, .outcome = Outcome::kDegradedDenied};
      unanswered.policy = rules::OnStoreError::kDeny;  // Already decided: no table is needed.
    }
    any_local |= IsLocal(unanswered);
    charge &= atomicity == store::Atomicity::kEach || !Denies(unanswered);
  }
  if (any_local) {
    DecideLocally(atomicity, charge, room);
  }
}

void Fallback::DecideLocally(store::Atomicity atomicity, bool charge, FallbackRoom& room) {
  room.checks.clear();
  for (const UnansweredCheck& unanswered : room.unanswered) {
    if (IsLocal(unanswered)) {
      room.checks.push_back(*unanswered.check);
      room.checks.back().quota = ShareOf(unanswered.check->quota);
    }
  }
  room.answers.assign(room.checks.size(), {});
  OnTheSpot<store::CheckCall> call;
  call.checks = room.checks;
  call.answers = room.answers;
  call.atomicity = atomicity;
  call.peek = !charge;
  store::CheckCall* const one = &call;
  local_.CheckMany({&one, 1});
  SLUICE_ASSERT(call.answered);
  std::size_t next = 0;
  for (UnansweredCheck& unanswered : room.unanswered) {
    if (!IsLocal(unanswered)) {
      continue;
    }
    const store::CheckAnswer& answer = room.answers[next++];
    if (call.error == store::StoreError::kNone && answer.error == store::StoreError::kNone) {
      unanswered.failed.decision = answer.decision;
      unanswered.failed.decision.degraded = true;
      unanswered.charged = answer.charged;
      unanswered.hold = answer.hold;
      unanswered.store_id = answer.receipt.store_id;
    }
  }
}

void Fallback::Reset(const core::KeyView& key, const core::Quota& quota) {
  Forget(key, quota);
  OnTheSpot<store::ResetCall> call;
  call.key = key;
  call.quota = quota;
  call.has_receipts = false;  // A charge that was made here instead of in the store has none.
  local_.Reset(call);
  SLUICE_ASSERT(call.answered);
}

void Fallback::Unban(const core::KeyView& key, const core::Quota& quota) {
  Forget(key, quota);
  OnTheSpot<store::BanCall> call;
  call.key = key;
  local_.Unban(call);
  SLUICE_ASSERT(call.answered);
}

bool Fallback::Release(const store::HoldCall& hold) {
  return CarryOut(local_, &store::KeyStore::Release, hold);
}

bool Fallback::Renew(const store::HoldCall& hold) {
  return CarryOut(local_, &store::KeyStore::Renew, hold);
}

}  // namespace sluice::service
