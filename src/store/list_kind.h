#pragma once

#include <cstdint>

#include "core/quota.h"
#include "core/tally.h"
#include "store/block.h"

namespace sluice::store {

// Slot::kind of an algorithm's keys.
[[nodiscard]] constexpr std::uint8_t KindOf(core::Algorithm algorithm) {
  return static_cast<std::uint8_t>(static_cast<std::uint8_t>(algorithm) + 1);
}

// The largest that a slot can have.
inline constexpr std::uint8_t kMostKind = KindOf(core::kTally);

// Which kind of block an algorithm's keys have; kFree if none.
[[nodiscard]] constexpr BlockKind BlocksOf(std::uint8_t kind) {
  if (kind == KindOf(core::Algorithm::kSlidingWindowLog) ||
      kind == KindOf(core::Algorithm::kSlidingWindow)) {
    return BlockKind::kEntries;
  }
  return kind == KindOf(core::Algorithm::kConcurrency) ? BlockKind::kHolds : BlockKind::kFree;
}

[[nodiscard]] constexpr bool HasList(std::uint8_t kind) {
  return BlocksOf(kind) != BlockKind::kFree;
}

}  // namespace sluice::store
