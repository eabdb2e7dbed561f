#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/time.h"

namespace sluice::insight {

// One of the keys that count most.
//
// `count` is never below what was added for the key, and too high by `overcount` at most. If what
// was added are samples, it estimates the decisions, with a standard deviation of
// sqrt(`variance`).
struct HeavyKey {
  std::string key;
  std::uint64_t count = 0;
  std::uint64_t overcount = 0;
  double variance = 0;
  std::uint64_t newly_denied = 0;  // Of these, since the key has its entry: never too high.
  WallInstant last{};

  // The decisions of the key are at least as many: exactly, if every decision was added; else
  // with three standard deviations, which fails once in 700 times.
  [[nodiscard]] std::uint64_t AtLeast() const;
  // ... and at most as many.
  [[nodiscard]] std::uint64_t AtMost() const;
};

// The keys that count most among any number of them, in the memory of a few: Space-Saving
// (Metwally, Agrawal, El Abbadi 2005). If a key comes that has no entry and all are taken, it
// takes the one with the lowest count, and its count with it.
//
// With N added over all keys and room for m entries:
//   - a count is too high by N/m at most;
//   - a key for which more than N/m was added has an entry.
// The room may change. Then m is the least that it was.
class HeavyKeys {
 public:
  struct Hit {
    std::string_view key;
    std::size_t hash = 0;  // Of `key`, by std::hash.
    std::uint32_t weight = 1;
    bool newly_denied = false;
    WallInstant at{};
  };

  // `room`: at least 1, and at least the size that it has. True: it has an entry more now.
  bool Add(const Hit& hit, std::size_t room);
  // Drops the least, until at most `room` are left.
  void Shrink(std::size_t room);
  void Clear();

  // In any order.
  [[nodiscard]] const std::vector<HeavyKey>& entries() const { return entries_; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  // What was added over all keys.
  [[nodiscard]] std::uint64_t total() const { return total_; }
  // No key without an entry was added more often.
  [[nodiscard]] std::uint64_t floor() const { return floor_; }

  // The same as if all that was added to `a` and to `b` had been added to one, the highest count
  // first; at most as many as the larger one has room for are meaningful.
  [[nodiscard]] static std::vector<HeavyKey> Merge(const HeavyKeys& a, const HeavyKeys& b);

 private:
  void Erase(std::size_t i);
  [[nodiscard]] std::size_t Least() const;

  // In step: entry i has counts_[i] and the low bits of its key's hash in hashes_[i]. Both are
  // searched from end to end, which for some hundred entries costs no more than a table and a heap.
  std::vector<HeavyKey> entries_;
  std::vector<std::uint32_t> hashes_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t total_ = 0;
  std::uint64_t floor_ = 0;
  double floor_variance_ = 0;
};

}  // namespace sluice::insight
