#pragma once

#include <cstddef>
#include <vector>

#include "doctor/finding.h"
#include "rules/rule_set.h"

// What rules show by themselves, without a daemon. Used by `sluice validate` and `sluice doctor`.
// Every finding is certain: rules whose numbers only look odd cause none.
namespace sluice::app::doctor {

// A set, with what the checks ask for again and again.
struct ReviewedRules {
  explicit ReviewedRules(const rules::RuleSet& reviewed);

  const rules::RuleSet& set;
  std::vector<rules::RuleSet::Details> details;  // By Rule::number, as all that follow.
  std::vector<bool> replaced;                    // An enforced rule replaces it for some requests.
};

// The most rules that are compared with each other: with more, CheckReplaced() and
// CheckUnreachable() find nothing, because pairs grow with the square.
inline constexpr std::size_t kMostComparedRules = 1'000;

// All below, in this order.
[[nodiscard]] FindingList CheckRules(const rules::RuleSet& rules);

// cost-above-limit: a request costs more than the rule can ever grant, or its bucket never refills.
void CheckCosts(const ReviewedRules& rules, FindingList& findings);
// never-denies: a rule of cost 0, or one that is unlimited.
void CheckUnlimited(const ReviewedRules& rules, FindingList& findings);
// empty-reserve: a share of a concurrency limit that is less than one slot, or all of it.
void CheckReserves(const ReviewedRules& rules, FindingList& findings);
// replaced-rule: another rule replaces, allows or refuses every request of this one.
void CheckReplaced(const ReviewedRules& rules, FindingList& findings);
// unreachable-limit: another rule, which applies to each of its requests and whose keys contain its
// keys, never lets enough pass.
void CheckUnreachable(const ReviewedRules& rules, FindingList& findings);

}  // namespace sluice::app::doctor
