#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/decision.h"

namespace sluice::core {

// What is kept with a hold of its priority: a number made of the priority's name, so that it means
// the same after a reload and in another process. 0: the priority has no reserve.
using PriorityTag = std::uint16_t;
inline constexpr unsigned kPriorityTagBits = 13;
inline constexpr PriorityTag kLastPriorityTag = (1U << kPriorityTagBits) - 1;

// One priority's share of a concurrency limit.
struct Reserve {
  std::string priority;
  int percent = 0;
  PriorityTag tag = 0;

  // Rounded down to whole slots. Exact: kMaxUnits * 100 is below 2^63.
  [[nodiscard]] Units Slots(Units limit) const { return limit * percent / 100; }
};

// The shares of a limit that only requests of one priority each may use. A rule has one such
// list, and the quota of a check points to it. Immutable once the rule is built.
class Reserves {
 public:
  static constexpr std::size_t kMost = 32;

  // Each priority once; `percent` 1 to 100, at most 100 in all. Two names that have the same
  // number get two different ones, by the order in which they were added.
  void Add(std::string priority, int percent);

  [[nodiscard]] bool empty() const { return shares_.empty(); }
  [[nodiscard]] std::span<const Reserve> shares() const { return shares_; }
  // 0 if this priority has no share.
  [[nodiscard]] PriorityTag TagOf(std::string_view priority) const;

  // Units in flight by share, in the order of shares().
  using InFlight = std::span<const Units>;
  // How many slots of `limit` are free and kept for priorities other than `asking`.
  [[nodiscard]] Units KeptFree(Units limit, PriorityTag asking, InFlight in_flight) const;
  // The same where nothing is in flight: what `asking` can never use.
  [[nodiscard]] Units OthersShares(Units limit, PriorityTag asking) const;

 private:
  [[nodiscard]] bool IsTaken(PriorityTag tag) const;

  std::vector<Reserve> shares_;
};

}  // namespace sluice::core
