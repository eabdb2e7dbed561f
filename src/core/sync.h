#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/quota.h"

namespace sluice::core {

// Who knows how much of a key's quota is used, where nodes share a store. Without one all three
// mean the same: the table.
enum class Sync : std::uint8_t {
  kExact,  // The shared store, which is asked for every request.
  kLease,  // The shared store, from which a node borrows units, to decide by those it holds.
  kLocal,  // Each node for itself, in its own table: each grants the whole quota.
};

// "exact", "lease", "local": the words of rule files.
[[nodiscard]] std::string_view NameOf(Sync sync);

// Whether a node may hold units of such a quota that it did not spend yet. What queues, what
// promises to be exact at every instant, and what is given back by its holder cannot be lent.
[[nodiscard]] constexpr bool CanBeLent(const Quota& quota) {
  switch (quota.algorithm) {
    case Algorithm::kFixedWindow:
    case Algorithm::kSlidingWindowCounter:
    case Algorithm::kSlidingWindow:
    case Algorithm::kTokenBucket:
    case Algorithm::kGcra:
      return true;
    case Algorithm::kLeakyBucket:
      return !quota.shape;
    case Algorithm::kSlidingWindowLog:
    case Algorithm::kConcurrency:
    case Algorithm::kThrottle:
    case Algorithm::kAttemptWindow:
      break;
  }
  return false;
}

// Why such a quota cannot have that `sync`, as one sentence with the remedy; nullopt if it can.
[[nodiscard]] std::optional<std::string> FaultOf(Sync sync, const Quota& quota);

}  // namespace sluice::core
