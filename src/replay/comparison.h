#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/algorithm_state.h"
#include "core/quota.h"
#include "rules/rule.h"

namespace sluice::replay {

// The exact units of the last W, as far as a limit needs them: entries before the last `limit`
// units cannot change an answer and are dropped, so there are never more entries than the limit.
// One thread.
class ExactWindow {
 public:
  // Units in (at - window, at], or at least the limit if entries were dropped. `at` never
  // decreases.
  [[nodiscard]] Units Used(WallInstant at, Duration window) {
    while (gone_ < entries_.size() && entries_[gone_].at <= at - window) {
      DropOldest();
    }
    return sum_;
  }

  // Requires a call of Used() for the same instant first.
  void Add(WallInstant at, Units units, Units limit) {
    if (units == 0) {
      return;
    }
    if (gone_ < entries_.size() && entries_.back().at == at) {
      entries_.back().units += units;
    } else {
      entries_.push_back({.at = at, .units = units});
    }
    sum_ += units;
    while (gone_ + 1 < entries_.size() && sum_ - entries_[gone_].units >= limit) {
      DropOldest();
    }
    if (gone_ * 2 > entries_.size()) {  // So each entry is moved at most once.
      entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(gone_));
      gone_ = 0;
    }
  }

 private:
  struct Entry {
    WallInstant at;
    Units units;
  };
  void DropOldest() {
    sum_ -= entries_[gone_].units;
    ++gone_;
  }

  std::vector<Entry> entries_;  // Valid from gone_ on.
  std::size_t gone_ = 0;
  Units sum_ = 0;
};

// The errors of one algorithm compared with an exact count.
struct Errors {
  std::uint64_t wrongly_allowed = 0;
  std::uint64_t wrongly_denied = 0;
};

// The results of one algorithm at a rule's limit, for the same requests as the others.
struct ComparisonRow {
  std::string name;  // "sliding_window, 48 segments"
  bool own = false;  // The rule's own algorithm.
  std::uint64_t requests = 0;
  std::uint64_t denied = 0;
  // Compared with the exact rule ("at most L in any W") for what this algorithm admitted: whether
  // it kept its promise, request by request.
  Errors own_admissions;
  // Compared with an exact count of all requests, denied ones included. A client that keeps sending
  // requests stays denied by that count, but not by an algorithm that counts admissions.
  Errors everything;
  // Only the estimate: the same count of all requests, made by this algorithm. Not for buckets,
  // which estimate nothing.
  std::optional<Errors> as_counter;
  bool counts =
      false;  // Whether as_counter must be computed: the log counts exactly, so it has no errors.
};

// Judges the requests of one rule by every algorithm at the same limit, each with its own state, so
// that a denial by one does not affect another. One thread. Memory per key: a state and, for the
// exact counts, up to `limit` entries for each algorithm.
class Comparison {
 public:
  // Whether other algorithms can have the rule's limit per window: not for calendar windows,
  // concurrency and `unlimited`.
  [[nodiscard]] static bool IsComparable(const core::Quota& quota);

  // `quota`: the rule's own.
  explicit Comparison(const core::Quota& quota);

  // Key number `key` requests `cost` at `at`, which never decreases. `quota` is the quota that
  // applied (plans and overrides change the limit).
  void Judge(std::size_t key, const core::Quota& quota, WallInstant at, Cost cost);

  [[nodiscard]] const std::vector<ComparisonRow>& rows() const { return rows_; }

 private:
  struct Lane {
    core::AlgorithmState state;
    ExactWindow admitted;
    core::AlgorithmState counter;
  };
  struct Key {
    std::vector<Lane> lanes;  // By row.
    ExactWindow everything;
  };

  void AddRow(std::string name, const core::Quota& quota, bool own);

  std::vector<ComparisonRow> rows_;
  std::vector<core::Quota> quotas_;  // By row. Each request has its own limit.
  std::deque<Key> keys_;
};

}  // namespace sluice::replay
