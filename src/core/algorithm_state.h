#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/judging.h"
#include "core/quota.h"

namespace sluice::core {

// One key's state under one algorithm, judged straight by core/, without a table. Not for
// algorithms with holds: see lab_key.h. One thread.
class AlgorithmState {
 public:
  // Judges `cost` at `at`, which never decreases, and charges it if it is allowed.
  [[nodiscard]] Decision Check(const Quota& quota, WallInstant at, Cost cost);

  // The verdict of such a check, and what is left at `at`. Changes nothing.
  [[nodiscard]] Decision Peek(const Quota& quota, WallInstant at, Cost cost) const;

  // As Check(), without ever denying: returns what the algorithm counts as used, including `cost`.
  // A rule denies the key if and only if this exceeds its limit once, because until its first
  // denial the rule has counted the same. Not for buckets.
  [[nodiscard]] Units Count(const Quota& quota, WallInstant at, Cost cost);

 private:
  // The entries of a log or of segments: a list as core/judging.h needs it.
  struct Entries {
    std::vector<Entry> list;  // Valid from index `gone` on; oldest first.
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
    void Change(std::uint32_t drop, Entry append);
  };

  std::array<std::uint64_t, 4> words_{};
  Entries entries_;
};

}  // namespace sluice::core
