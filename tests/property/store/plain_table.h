#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/quota.h"
#include "store/key_store.h"

namespace sluice::store {

// What a table should say, by the book: a map from rule and key to all that was ever charged
// there. Nothing is ever forgotten but by a reset, and every answer is counted anew.
class PlainTable {
 public:
  struct Moment {
    std::int64_t monotonic_ns = 0;
    std::int64_t wall_clock_ns = 0;
  };
  using Key = std::pair<std::string, std::string>;  // Rule, value.

  // What would be granted now.
  [[nodiscard]] Units Remaining(const Key& key, const core::Quota& quota, Moment now) const {
    const auto found = uses_.find(key);
    const Uses none;
    const Uses& uses = found == uses_.end() ? none : found->second;
    if (core::IsBucket(quota.algorithm)) {
      const Wide room = Wide{quota.limit} * quota.window.count() - Owed(uses, quota, now);
      return static_cast<Units>(room / quota.window.count());
    }
    Units used = 0;
    for (const Use& use : uses.list) {
      used += Counts(use, quota, now) ? use.units : 0;
    }
    return quota.limit - used;
  }

  // `hold` names it, for Release().
  void Charge(const Key& key, const core::Quota& quota, Moment now, Units units, HoldId hold = 0) {
    Uses& uses = uses_[key];
    if (core::IsBucket(quota.algorithm)) {
      uses.owed = Owed(uses, quota, now) + Wide{units} * quota.window.count();
      uses.owed_at_ns = now.monotonic_ns;
    } else {
      uses.list.push_back({.at = now, .units = units, .hold = hold});
    }
  }

  // Takes from the newest use first, and never more than counts.
  void Refund(const Key& key, const core::Quota& quota, Moment now, Units units) {
    Uses& uses = uses_[key];
    if (core::IsBucket(quota.algorithm)) {
      uses.owed = std::max(Owed(uses, quota, now) - Wide{units} * quota.window.count(), Wide{0});
      uses.owed_at_ns = now.monotonic_ns;
      return;
    }
    for (auto use = uses.list.rbegin(); use != uses.list.rend(); ++use) {
      if (Counts(*use, quota, now)) {
        const Units taken = std::min(units, use->units);
        use->units -= taken;
        units -= taken;
      }
    }
  }

  // Whether there was such a hold.
  bool Release(const Key& key, const core::Quota& quota, Moment now, HoldId hold) {
    std::vector<Use>& list = uses_[key].list;
    const auto found = std::ranges::find(list, hold, &Use::hold);
    const bool live = found != list.end() && Counts(*found, quota, now);
    if (found != list.end()) {
      list.erase(found);
    }
    return live;
  }

  void Reset(const Key& key) { uses_.erase(key); }

 private:
  __extension__ using Wide = __int128;

  struct Use {
    Moment at;
    Units units = 0;
    HoldId hold = 0;
  };
  struct Uses {
    std::vector<Use> list;
    Wide owed = 0;  // A bucket's, in units x window.
    std::int64_t owed_at_ns = 0;
  };

  // Until the next window begins, or for a window's length.
  static bool Counts(const Use& use, const core::Quota& quota, Moment now) {
    const std::int64_t window = quota.window.count();
    if (quota.algorithm == core::Algorithm::kFixedWindow) {
      return use.at.wall_clock_ns / window == now.wall_clock_ns / window;
    }
    return now.monotonic_ns - use.at.monotonic_ns < window;
  }

  static Wide Owed(const Uses& uses, const core::Quota& quota, Moment now) {
    return std::max(uses.owed - Wide{quota.rate} * (now.monotonic_ns - uses.owed_at_ns), Wide{0});
  }

  std::map<Key, Uses> uses_;
};

}  // namespace sluice::store
