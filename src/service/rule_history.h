#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rules/rule_set.h"

namespace sluice::service {

// What the service must know of earlier rules, for callers with tokens from that time. A hold or a
// receipt names its rule by the id of that time, and a receipt counts for as long as the numbers of
// that time say. Copied with each snapshot, immutable in it.
class RuleHistory {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // The rules before the start are not known. No receipt from that time is assumed to count longer.
  static constexpr Duration kBeforeStart = std::chrono::hours(24);

  // `after` is in force from `now` on, instead of `before`; nullptr: there was none.
  void Replace(const rules::RuleSet* before, const rules::RuleSet& after, Time now);

  // The current id of the rule that was called `old`; nullptr if it was not renamed. A chain of
  // renames leads from each of its ids to the last one.
  [[nodiscard]] const std::string* NameNow(std::string_view old) const;
  // All ids that `rule` had, the latest first: those that it states, and those of its renames since
  // the start. Allocates: not for decisions.
  [[nodiscard]] std::vector<std::string> FormerIds(const rules::Rule& rule) const;
  // For how long from `now` on a charge of `rule` may still count by numbers that it had earlier;
  // zero or less if none does. Only buckets refill by other numbers; a changed window is another
  // shape.
  [[nodiscard]] Duration ChargesCountFor(const rules::Rule& rule, Time now) const;

 private:
  struct Rename {
    std::string id;
    std::uint64_t at = 0;  // Counts sets of rules.
  };

  void TakeRenames(const rules::RuleSet& after);

  std::unordered_map<std::string, Rename> renames_;  // By old id; no chains.
  std::unordered_map<std::string, Time> count_until_;
  Time unknown_until_{};
  std::uint64_t sets_ = 0;
};

}  // namespace sluice::service
