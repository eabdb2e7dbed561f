#pragma once

#include <memory>
#include <string_view>

#include "sluice/decision.h"

#include "core/key.h"
#include "core/quota.h"
#include "insight/insight.h"
#include "service/charge_call.h"
#include "service/service_metrics.h"
#include "store/key_store.h"

namespace sluice::service {

class Operation;

// A check without a rule, by numbers that its caller brings along: CL.THROTTLE. Its keys belong to
// kThrottleRule only. The debt of a key carries over when its numbers change, even the window
// (core/throttle.h). Nothing is allocated.
class ThrottleCheck {
 public:
  explicit ThrottleCheck(Operation& operation);
  ThrottleCheck(const ThrottleCheck&) = delete;
  ThrottleCheck& operator=(const ThrottleCheck&) = delete;

  // In. The bytes of `key` (at most core::kMaxValueBytes) stay alive until the operation is
  // complete. Requires FaultOf(quota) silent, algorithm kThrottle, and a cost of 0 to kMaxUnits.
  void Set(std::string_view key, const core::Quota& quota, Cost cost) {
    part_.value = key;
    check_.quota = quota;
    check_.cost = cost;
  }

  // Out. Where the store gave no answer it is the failure policy's, which lets pass: there is no
  // rule that could say otherwise.
  [[nodiscard]] const Decision& decision() const { return answer_.decision; }

 private:
  friend class LimiterService;
  friend class ChargeCallOf<ThrottleCheck>;

  void OnCharged() noexcept;
  void Record() noexcept;
  [[nodiscard]] static std::shared_ptr<const void> ChargeKeeper() { return nullptr; }

  Operation& operation_;
  core::KeyPart part_;
  store::Check check_;
  store::CheckAnswer answer_;
  ServiceMetrics* metrics_ = nullptr;
  insight::Insight* insight_ = nullptr;
  ChargeCallOf<ThrottleCheck> charge_{*this};
};

}  // namespace sluice::service
