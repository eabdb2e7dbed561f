#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/judging.h"
#include "core/quota.h"

namespace sluice::replay {

// One key's state under one algorithm, judged straight by core/, without a table. Not for
// algorithms with holds. One thread.
class AlgorithmState {
 public:
  // Judges `cost` at `at`, which never goes back, and charges it if it is allowed.
  [[nodiscard]] Decision Check(const core::Quota& quota, WallInstant at, Cost cost);

  // The same where nothing is ever denied: what the algorithm then counts as used, `cost`
  // included. A rule denies the key sooner or later if and only if this once exceeds its limit: up
  // to the first denial it has counted the same. Not for buckets.
  [[nodiscard]] Units Count(const core::Quota& quota, WallInstant at, Cost cost);

 private:
  // The entries of a log or of segments: a list as core/judging.h wants it.
  struct Entries {
    std::vector<core::Entry> list;  // From gone on; oldest first.
    std::size_t gone = 0;

    template <class F>
    void ForEach(F f) const {
      for (std::size_t i = gone; i < list.size() && f(list[i]); ++i) {
      }
    }
    template <class F>
    void ForEachNewestFirst(F f) const {
      for (std::size_t i = list.size(); i > gone && f(list[i - 1]); --i) {
      }
    }
    void Change(std::uint32_t drop, core::Entry append);
  };

  std::array<std::uint64_t, 4> words_{};
  Entries entries_;
};

}  // namespace sluice::replay
