#include "service/failure_policy.h"

namespace sluice::service {

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

}  // namespace sluice::service
