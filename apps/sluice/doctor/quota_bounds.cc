#include "doctor/quota_bounds.h"

#include <cmath>

namespace sluice::app::doctor {

namespace {

// Products of units and nanoseconds exceed 64 bits. Rounding is monotone, so comparisons of equal
// products stay right.
using Wide = long double;

Wide Ns(Duration duration) {
  return static_cast<Wide>(duration.count());
}

// Full quotas that a window grants at most within any stretch of `windows` window lengths.
Wide FullQuotas(const core::Quota& quota, Wide windows) {
  // Aligned windows end anywhere in the stretch, and the counter estimates: one more for both.
  const bool exact = core::Is<&core::AlgorithmTraits::is_exact>(quota.algorithm);
  return std::ceil(windows) + (exact ? 0 : 1);
}

// The most that `quota` lets pass within any stretch of `length`.
Wide MostWithin(const core::Quota& quota, Duration length) {
  const Wide windows = Ns(length) / Ns(quota.window);
  if (core::IsBucket(quota.algorithm)) {
    return static_cast<Wide>(quota.limit) + static_cast<Wide>(quota.rate) * windows;
  }
  return static_cast<Wide>(quota.limit) * FullQuotas(quota, windows);
}

// Whether the average that `grants` lets pass is at most that of `bucket`.
bool IsNoFaster(const core::Quota& grants, const core::Quota& bucket) {
  return static_cast<Wide>(core::LimitPerWindow(grants)) * Ns(bucket.window) <=
         static_cast<Wide>(bucket.rate) * Ns(grants.window);
}

bool NeverEmpties(const core::Quota& grants, const core::Quota& bucket) {
  const Wide at_once = core::IsBucket(grants.algorithm)
                           ? static_cast<Wide>(grants.limit)
                           : static_cast<Wide>(grants.limit) * FullQuotas(grants, 1);
  return IsNoFaster(grants, bucket) && at_once <= static_cast<Wide>(bucket.limit);
}

bool NeverFills(const core::Quota& grants, const core::Quota& held) {
  return held.reserves == nullptr && grants.limit <= held.limit && grants.window >= held.window;
}

// The longest time for which `window` counts a unit: one that estimates counts older units too.
Duration CountedFor(const core::Quota& window) {
  const auto& traits = core::TraitsOf(window.algorithm);
  return traits.refill == core::Refill::kSliding && !traits.is_exact ? 2 * window.window
                                                                     : window.window;
}

// Whether both count the same units in the same windows.
bool HaveSameWindows(const core::Quota& one, const core::Quota& other) {
  return one.algorithm == other.algorithm && !core::IsBucket(one.algorithm) &&
         one.window == other.window && one.segments == other.segments && one.strict == other.strict;
}

}  // namespace

bool NeverExceeds(const core::Quota& grants, const core::Quota& limit) {
  if (grants.unlimited || limit.unlimited || grants.calendar != nullptr ||
      limit.calendar != nullptr || core::HasHolds(grants.algorithm) != HasHolds(limit.algorithm)) {
    return false;
  }
  if (core::HasHolds(grants.algorithm)) {
    return NeverFills(grants, limit);
  }
  if (grants.window <= Duration::zero() || limit.window <= Duration::zero()) {
    return false;
  }
  if (HaveSameWindows(grants, limit)) {
    return grants.limit <= limit.limit;
  }
  return core::IsBucket(limit.algorithm)
             ? NeverEmpties(grants, limit)
             : MostWithin(grants, CountedFor(limit)) <= static_cast<Wide>(limit.limit);
}

}  // namespace sluice::app::doctor
