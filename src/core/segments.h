#pragma once

#include <cstdint>

#include "sluice/decision.h"

#include "core/quota.h"

// The arithmetic of sliding_window's segments: window W cut into S of W / S each, whether
// or not that is a whole number of nanoseconds. Positions on the line are counted in 1/S
// nanoseconds, in which a segment is W long, so that nothing is ever rounded; 128 bits hold
// them. Offsets are nanoseconds since the state's origin, where segment 0 begins.
namespace sluice::core {

struct SegmentPlace {
  std::int64_t number = 0;  // Of the segment that holds the offset.
  std::uint64_t into = 0;   // How far into it, in 1/S nanoseconds: 0 to W - 1.
};

// Where `offset` >= 0 lies.
[[nodiscard]] SegmentPlace PlaceOf(const Quota& quota, std::uint64_t offset);

// The first whole nanosecond at or after `into` (1/S ns, 0 to W) within segment `number`.
[[nodiscard]] std::int64_t OffsetOf(const Quota& quota, std::int64_t number, std::uint64_t into);

// What the oldest, partly covered segment weighs: floor(units * (W - into) / W); whole where
// the quota is strict.
[[nodiscard]] Units WeightOf(const Quota& quota, Units units, std::uint64_t into);

// The least `into` at which it weighs at most `spare` < units; W where only leaving helps.
[[nodiscard]] std::uint64_t IntoUntilWithin(const Quota& quota, Units units, Units spare);

}  // namespace sluice::core
