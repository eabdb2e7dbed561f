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

// A check by numbers that its caller brings along, and by no rule: CL.THROTTLE. Its keys belong
// to kThrottleRule and so to nobody else; what a key owes carries over when its numbers change,
// the window included (core/throttle.h).
//
// Owned by its sender, who reuses it; alive and unmoved from LimiterService::Throttle() until
// OnDecided(). Nothing is allocated. One thread.
class ThrottleCall : private store::CheckCall {
 public:
  ThrottleCall();

  // In. The bytes of `key` (at most core::kMaxValueBytes) stay alive until OnDecided(). Requires
  // FaultOf(quota) silent, algorithm kThrottle, and a cost of 0 to kMaxUnits.
  void Ask(std::string_view key, const core::Quota& quota, Cost cost) {
    part_.value = key;
    check_.quota = quota;
    check_.cost = cost;
  }
  using store::StoreCall::deadline;

  // Out. Where the store gave no answer it is the failure policy's, which lets pass: there is no
  // rule that could say otherwise.
  [[nodiscard]] const Decision& decision() const { return answer_.decision; }

  // Called once, on the thread that sent the call, during Throttle() or later. The last thing
  // done with the call: the sender may send it again or destroy it here.
  virtual void OnDecided() noexcept = 0;

 private:
  friend class LimiterService;
  void OnAnswered() noexcept final;

  core::KeyPart part_;
  store::Check check_;
  store::CheckAnswer answer_;
  ServiceMetrics* metrics_ = nullptr;
  std::uint64_t batch_timer_ = 0;  // Which Throttle() of this thread sent it: see batch_timer.h.
  std::chrono::steady_clock::time_point started_;
};

}  // namespace sluice::service
