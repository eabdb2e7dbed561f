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

// The denials that a store gave lately and that still hold. Until a denial's waiting time is over
// nobody passes with its cost or more, whether the store can be asked or not: who was denied stays
// so while the store is away.
//
// Only denials for a time are kept (kQuotaExceeded): what can never pass needs no store, and when a
// place in flight comes free nobody knows. A fixed number of them; where more are denied, the one
// that ends first gives way. Any thread.
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

  // What the store would say by all that is known: denied, degraded, with what is left of the wait.
  // Nothing if the cost is less than the denied one's, or the quota has other numbers by now.
  [[nodiscard]] std::optional<Decision> Find(const core::KeyView& key, const core::Quota& quota,
                                             Cost cost, Time now) const;

  // The key has got units back.
  void Forget(const core::KeyView& key, const core::Quota& quota);

 private:
  static constexpr std::size_t kInBucket = 4;
  struct Denial {
    store::Fingerprint key{};
    Time until{};  // Past: nothing is here.
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
