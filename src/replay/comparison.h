#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/quota.h"
#include "replay/algorithm_state.h"
#include "replay/exact_window.h"
#include "rules/rule.h"

namespace sluice::replay {

// How far one algorithm was from a truth.
struct Errors {
  std::uint64_t wrongly_allowed = 0;
  std::uint64_t wrongly_denied = 0;
};

// One algorithm at a rule's limit, judged beside the others on the same requests.
struct ComparisonRow {
  std::string name;  // "sliding_window, 48 segments"
  bool own = false;  // The rule as it is.
  std::uint64_t requests = 0;
  std::uint64_t denied = 0;
  // Against the exact rule ("at most L in any W") applied to what this algorithm admitted: whether
  // the promise was kept, request by request.
  Errors own_admissions;
  // Against an exact count of all requests, denied ones included: a client that keeps knocking
  // stays denied there, which no algorithm that counts admissions does.
  Errors everything;
  // The estimate alone: the same count of all requests, made by this algorithm. Not of buckets,
  // which estimate nothing.
  std::optional<Errors> as_counter;
  bool counts =
      false;  // Whether that has to be tried: the log counts exactly, so it has no errors.
};

// Judges the requests of one rule by every algorithm at the same limit, each with a state of its
// own, so that what one denies does not change what another sees. One thread. Memory: per key a
// state and, for the exact counts, up to `limit` entries for each algorithm.
class Comparison {
 public:
  // Whether the rule has a limit per window that others could have: not the calendar's, not
  // concurrency, not `unlimited`.
  [[nodiscard]] static bool IsComparable(const core::Quota& quota);

  // `quota`: the rule's own.
  explicit Comparison(const core::Quota& quota);

  // Key number `key` asks for `cost` at `at`, which never goes back; `quota` is what it was
  // judged by (plans and overrides change the limit).
  void Judge(std::size_t key, const core::Quota& quota, WallInstant at, Cost cost);

  [[nodiscard]] const std::vector<ComparisonRow>& rows() const { return rows_; }

 private:
  struct Lane {
    AlgorithmState state;
    ExactWindow admitted;
    AlgorithmState counter;
  };
  struct Key {
    std::vector<Lane> lanes;  // By row.
    ExactWindow everything;
  };

  void AddRow(std::string name, const core::Quota& quota, bool own);

  std::vector<ComparisonRow> rows_;
  std::vector<core::Quota> quotas_;  // By row; limits are those of each request.
  std::deque<Key> keys_;
};

}  // namespace sluice::replay
