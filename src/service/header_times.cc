#include "service/header_times.h"

#include <algorithm>

#include "core/calendar.h"
#include "service/rounding.h"

namespace sluice::service {

namespace {

constexpr Int128 kSecondNs = 1'000'000'000;

// Seconds for `units` to be refilled; none with rate 0.
std::optional<std::int64_t> RefillSeconds(const core::Quota& quota, Units units) {
  if (quota.rate <= 0) {
    return std::nullopt;
  }
  const Int128 time = static_cast<Int128>(units) * quota.window.count();
  return static_cast<std::int64_t>(CeilDivide(time, kSecondNs * quota.rate));
}

// t of a bucket. The time to the next whole unit follows from reset_after, which is when all
// of the debt is paid: the units above the next one come after it.
std::optional<std::int64_t> BucketSeconds(const core::Quota& quota, const Decision& decision) {
  const auto at_the_rate = RefillSeconds(quota, decision.remaining);
  if (!at_the_rate || !IsKnown(decision.reset_after)) {
    return std::nullopt;
  }
  std::int64_t next_unit = 0;
  const Units above = quota.limit - decision.remaining - 1;
  if (above >= 0) {
    const Int128 later = CeilDivide(static_cast<Int128>(above) * quota.window.count(), quota.rate);
    const Int128 next = decision.reset_after.count() - later;
    next_unit = static_cast<std::int64_t>(CeilDivide(next, kSecondNs));
  }
  return std::max(next_unit, *at_the_rate);
}

}  // namespace

std::optional<std::int64_t> WindowSeconds(const core::Quota& quota, WallInstant now) {
  std::optional<std::int64_t> seconds;
  switch (core::TraitsOf(quota.algorithm).refill) {
    case core::Refill::kAtRate:
      seconds = RefillSeconds(quota, quota.limit);
      break;
    case core::Refill::kAtWindowEnd:
    case core::Refill::kSliding:
      if (quota.calendar != nullptr) {
        const core::Period period = quota.calendar->At(now);
        seconds = CeilSeconds(period.end - period.begin);
      } else {
        seconds = CeilSeconds(quota.window);
      }
      break;
    case core::Refill::kOnRelease:
      break;
  }
  return seconds.value_or(0) > 0 ? seconds : std::nullopt;
}

std::optional<std::int64_t> EffectiveSeconds(const core::Quota& quota, const Decision& decision,
                                             WallInstant now) {
  if (core::IsBucket(quota.algorithm)) {
    return BucketSeconds(quota, decision);
  }
  if (core::HasHolds(quota.algorithm) || !IsKnown(decision.reset_after)) {
    return std::nullopt;
  }
  const std::int64_t reset = CeilSeconds(decision.reset_after);
  if (reset == 0 && decision.remaining > 0) {
    return WindowSeconds(quota, now);  // Fresh: all of it, but only once per window.
  }
  return reset;
}

}  // namespace sluice::service
