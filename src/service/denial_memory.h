#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "sluice/decision.h"

#include "core/key.h"
#include "core/quota.h"
#include "store/key_hash.h"

namespace sluice::service {

// The recent denials of a store that are still valid. Until the waiting time of a denial is over,
// no request of its cost or more would pass, so it can be denied while the store is unreachable.
//
// Only denials with a known end are kept (kQuotaExceeded). A cost that can never pass needs no
// memory, and it is unknown when a hold will be released. Their number is fixed: a new denial
// replaces the one that ends first. Any thread.
class DenialMemory {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Room for about `denials`, 80 bytes each, allocated here.
  explicit DenialMemory(std::size_t denials = 16 * 1024);
  DenialMemory(const DenialMemory&) = delete;
  DenialMemory& operator=(const DenialMemory&) = delete;

  // The store denied this key `cost` at `now`, by this quota.
  void Remember(const core::KeyView& key, const core::Quota& quota, Cost cost,
                const Decision& denial, Time now);

  // The decision that the store would give: denied, degraded, with the rest of the wait. nullopt
  // without a valid denial, for a smaller cost than the denied one, and for a quota with other
  // numbers.
  [[nodiscard]] std::optional<Decision> Find(const core::KeyView& key, const core::Quota& quota,
                                             Cost cost, Time now) const;

  // Drops the denial of a key that got units back.
  void Forget(const core::KeyView& key, const core::Quota& quota);

 private:
  static constexpr std::size_t kInBucket = 4;
  struct Denial {
    store::Fingerprint key{};
    Time until{};  // An instant that has passed: the place is free.
    Time fresh{};
    Units cost = 0;
    Units remaining = 0;
    Units limit = 0;
    Units rate = 0;
  };
  struct Bucket {
    mutable std::mutex mutex;
    std::array<Denial, kInBucket> denials{};
  };

  [[nodiscard]] std::size_t PlaceOf(const store::Fingerprint& key) const {
    return key.low & (buckets_.size() - 1);
  }

  const store::HashSecret secret_;
  std::vector<Bucket> buckets_;  // A power of two.
};

}  // namespace sluice::service
