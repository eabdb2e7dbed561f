#pragma once

#include <cstdint>
#include <optional>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/quota.h"

// The times that the fields RateLimit-Policy and RateLimit tell of a limit
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

}  // namespace sluice::service
