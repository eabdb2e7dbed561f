#pragma once

#include <cstdint>

#include "core/quota.h"
#include "store/block.h"

namespace sluice::store {

// Slot::kind of an algorithm's keys.
[[nodiscard]] constexpr std::uint8_t KindOf(core::Algorithm algorithm) {
  return static_cast<std::uint8_t>(static_cast<std::uint8_t>(algorithm) + 1);
}

// Slots that are no algorithm's: a mark (mark.h), a ban (ban_list.h).
inline constexpr std::uint8_t kMarkKind = KindOf(core::Algorithm::kAttemptWindow) + 1;
inline constexpr std::uint8_t kBanKind = kMarkKind + 1;
inline constexpr std::uint8_t kLastKind = kBanKind;

// Which kind of block a slot's kind has; kFree if none.
[[nodiscard]] constexpr BlockKind BlocksOf(std::uint8_t kind) {
  if (kind == KindOf(core::Algorithm::kSlidingWindowLog) ||
      kind == KindOf(core::Algorithm::kSlidingWindow)) {
    return BlockKind::kEntries;
  }
  if (kind == kBanKind) {
    return BlockKind::kText;
  }
  return kind == KindOf(core::Algorithm::kConcurrency) ? BlockKind::kHolds : BlockKind::kFree;
}

[[nodiscard]] constexpr bool HasList(std::uint8_t kind) {
  return BlocksOf(kind) != BlockKind::kFree;
}

}  // namespace sluice::store
