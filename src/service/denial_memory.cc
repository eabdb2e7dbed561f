#include "service/denial_memory.h"

#include <algorithm>
#include <bit>

#include "core/algorithm.h"

namespace sluice::service {

DenialMemory::DenialMemory(std::size_t denials)
    : secret_(store::DrawHashSecret()),
      buckets_(std::bit_ceil(std::max(denials, kInBucket) / kInBucket)) {}

void DenialMemory::Remember(const core::KeyView& key, const core::Quota& quota, Cost cost,
                            const Decision& denial, Time now) {
  if (denial.reason != Reason::kQuotaExceeded || denial.retry_after <= Duration(0) ||
      denial.retry_after >= Decision::kUnknown || denial.degraded) {
    return;
  }
  const store::Fingerprint hash = store::KeyHash(secret_).Of(key.rule, key, quota);
  Bucket& bucket = buckets_[PlaceOf(hash)];
  const std::lock_guard lock(bucket.mutex);
  auto& denials = bucket.denials;
  auto place = std::ranges::find(denials, hash, &Denial::key);
  if (place == denials.end()) {
    place = std::ranges::min_element(denials, {}, &Denial::until);
  }
  constexpr Duration kFar = std::chrono::hours(24 * 365);
  *place = {.key = hash,
            .until = now + std::min(denial.retry_after, kFar),
            .fresh = now + std::min(denial.reset_after, kFar),
            .cost = cost.units,
            // If the algorithm counts denied requests, a denial leaves nothing.
            .remaining = core::ChargesDenials(quota.algorithm) ? 0 : denial.remaining,
            .limit = quota.limit,
            .rate = quota.rate};
}

std::optional<Decision> DenialMemory::Find(const core::KeyView& key, const core::Quota& quota,
                                           Cost cost, Time now) const {
  const store::Fingerprint hash = store::KeyHash(secret_).Of(key.rule, key, quota);
  const Bucket& bucket = buckets_[PlaceOf(hash)];
  const std::lock_guard lock(bucket.mutex);
  const auto found = std::ranges::find(bucket.denials, hash, &Denial::key);
  if (found == bucket.denials.end() || found->until <= now || cost.units < found->cost ||
      found->limit != quota.limit || found->rate != quota.rate) {
    return std::nullopt;
  }
  Decision decision;
  decision.allowed = false;
  decision.degraded = true;
  decision.reason = Reason::kQuotaExceeded;
  decision.limit = found->limit;
  decision.remaining = found->remaining;
  decision.retry_after = found->until - now;
  decision.reset_after = std::max(Duration(0), Duration(found->fresh - now));
  return decision;
}

void DenialMemory::Forget(const core::KeyView& key, const core::Quota& quota) {
  const store::Fingerprint hash = store::KeyHash(secret_).Of(key.rule, key, quota);
  Bucket& bucket = buckets_[PlaceOf(hash)];
  const std::lock_guard lock(bucket.mutex);
  for (Denial& denial : bucket.denials) {
    if (denial.key == hash) {
      denial = {};
    }
  }
}

}  // namespace sluice::service
