#pragma once

#include <cstdint>
#include <optional>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/quota.h"
#include "service/rounding.h"

// The times that the fields RateLimit-Policy and RateLimit state of a limit
// (draft-ietf-httpapi-ratelimit-headers-10), in whole seconds. `now` is the store's wall clock, by
// which civil periods are measured. Pure functions.
namespace sluice::service {

// w: how long what is left of a quota has to last at the most. None where the draft has no place
// for it, or a window of no seconds would be said.
[[nodiscard]] std::optional<std::int64_t> WindowSeconds(const core::Quota& quota, WallInstant now);

// t: until there is more. Of a bucket at the least what its remaining units take at its rate, so
// that r / t is never above the rate. None where it is not known, or never.
[[nodiscard]] std::optional<std::int64_t> EffectiveSeconds(const core::Quota& quota,
                                                           const Decision& decision,
                                                           WallInstant now);

// Unix seconds, rounded up, at which the key is fresh again. None where there is nothing to reset
// (unlimited) or it never happens.
//
// A millisecond is subtracted before rounding up. The two clocks of a reading are read one after
// the other, so `now + reset_after` varies by the time between. Many windows end on whole seconds,
// where that would give two answers for one window.
[[nodiscard]] inline std::optional<std::int64_t> ResetAt(WallInstant now,
                                                         const Decision& decision) {
  if (decision.limit == kUnlimited || !IsKnown(decision.reset_after)) {
    return std::nullopt;
  }
  constexpr Int128 kTremble = 1'000'000;
  constexpr Int128 kSecond = 1'000'000'000;
  const Int128 at =
      static_cast<Int128>(now.time_since_epoch().count()) + decision.reset_after.count() - kTremble;
  return static_cast<std::int64_t>(CeilDivide(at, kSecond));
}

}  // namespace sluice::service
