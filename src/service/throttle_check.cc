#include "service/throttle_check.h"

#include "service/operation.h"

namespace sluice::service {

namespace {

class OneThrottleDecision final : public insight::DecisionList {
 public:
  OneThrottleDecision(const store::Check& check, const store::CheckAnswer& answer, Outcome outcome)
      : check_(check), answer_(answer), outcome_(outcome) {}
  [[nodiscard]] std::size_t size() const override { return 1; }
  [[nodiscard]] insight::DecisionRecord At(std::size_t /*i*/) const override {
    return {.rule = check_.key.rule,
            .parts = check_.key.parts,
            .quota = &check_.quota,
            .cost = check_.cost,
            .decision = &answer_.decision,
            .outcome = outcome_,
            .charged = answer_.charged};
  }

 private:
  const store::Check& check_;
  const store::CheckAnswer& answer_;
  const Outcome outcome_;
};

}  // namespace

ThrottleCheck::ThrottleCheck(Operation& operation) : operation_(operation) {
  part_.attribute = "key";
  check_.key = {.rule = kThrottleRule, .formerly = {}, .parts = {&part_, 1}};
  charge_.Borrow(check_, answer_);
}

void ThrottleCheck::OnCharged() noexcept {
  metrics_->CountThrottle(charge_.outcome(0));
  metrics_->CountRequest(decision().allowed ? RequestResult::kAllowed : RequestResult::kDenied);
  if (insight_ != nullptr) {
    Record();
  }
  operation_.Complete();
}

void ThrottleCheck::Record() noexcept {
  const OneThrottleDecision decisions(check_, answer_, charge_.outcome(0));
  insight_->Record({.now = charge_.now,
                    .request_id = &operation_.request_id,
                    .listener = operation_.listener,
                    .judged_by = insight::JudgedBy::kThrottle,
                    .allowed = answer_.decision.allowed,
                    .any_denied = !answer_.decision.allowed,
                    .cost = check_.cost,
                    .decisions = decisions});
}

}  // namespace sluice::service
