#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "sluice/decision.h"

#include "core/key.h"
#include "core/quota.h"
#include "service/service_metrics.h"
#include "store/key_store.h"

namespace sluice::service {

class Operation;

// A check by numbers that its caller brings along, and by no rule: CL.THROTTLE. Its keys belong
// to kThrottleRule and so to nobody else; what a key owes carries over when its numbers change,
// the window included (core/throttle.h). Nothing is allocated.
class ThrottleCheck : private store::CheckCall {
 public:
  explicit ThrottleCheck(Operation& operation);

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
  void OnAnswered() noexcept final;

  Operation& operation_;
  core::KeyPart part_;
  store::Check check_;
  store::CheckAnswer answer_;
  ServiceMetrics* metrics_ = nullptr;
  std::uint64_t batch_timer_ = 0;  // Which Submit() of this thread sent it: see batch_timer.h.
  std::chrono::steady_clock::time_point started_;
};

}  // namespace sluice::service
