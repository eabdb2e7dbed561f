#include "service/throttle_check.h"

#include "service/batch_timer.h"
#include "service/failure_policy.h"
#include "service/operation.h"

namespace sluice::service {

ThrottleCheck::ThrottleCheck(Operation& operation) : operation_(operation) {
  part_.attribute = "key";
  check_.key = {.rule = kThrottleRule, .formerly = {}, .parts = {&part_, 1}};
  checks = {&check_, 1};
  answers = {&answer_, 1};
}

void ThrottleCheck::OnAnswered() noexcept {
  Outcome outcome = Outcome::kAllowed;
  if (error == store::StoreError::kNone && answer_.error == store::StoreError::kNone) {
    outcome = answer_.decision.allowed ? Outcome::kAllowed : Outcome::kDenied;
  } else {
    const FailedCheck failed = DecideWithoutStore(rules::OnStoreError::kAllow, check_.quota);
    answer_.decision = failed.decision;
    outcome = failed.outcome;
  }
  metrics_->CountThrottle(outcome);
  metrics_->CountRequest(answer_.decision.allowed ? RequestResult::kAllowed
                                                  : RequestResult::kDenied);
  BatchTimer::Answered(*metrics_, batch_timer_, started_);
  operation_.Complete();
}

}  // namespace sluice::service
