#include "service/throttle_check.h"

#include "service/operation.h"

namespace sluice::service {

ThrottleCheck::ThrottleCheck(Operation& operation) : operation_(operation) {
  part_.attribute = "key";
  check_.key = {.rule = kThrottleRule, .formerly = {}, .parts = {&part_, 1}};
  charge_.Borrow(check_, answer_);
}

void ThrottleCheck::OnCharged() noexcept {
  metrics_->CountThrottle(charge_.outcome(0));
  metrics_->CountRequest(decision().allowed ? RequestResult::kAllowed : RequestResult::kDenied);
  operation_.Complete();
}

}  // namespace sluice::service
