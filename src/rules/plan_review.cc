#include <algorithm>
#include <string>

#include "rules/rule_reader.h"

namespace sluice::rules {

namespace {

// Whether every request that matches both `rule` and `later` also matches `earlier`.
bool Takes(const Conditions& earlier, const Conditions& later, const Conditions& rule) {
  return std::all_of(earlier.begin(), earlier.end(), [&](const Condition& c) {
    return AnyCovered(c, later) || AnyCovered(c, rule);
  });
}

}  // namespace

void ReviewPlans(const CompiledRule& rule, const AttributeTable& attributes, Findings& findings) {
  for (std::size_t i = 0; i < rule.plans.size(); ++i) {
    const Plan& plan = rule.plans[i];
    const auto warn = [&](const std::string& why) {
      if (findings.warnings.size() < Reporter::kMaxPerList) {
        findings.warnings.push_back(
            {"this plan can never match (" + TextOf(plan.match, attributes) + "): " + why,
             plan.place});
      }
    };
    const bool excluded =
        std::any_of(plan.match.begin(), plan.match.end(), [&](const Condition& ours) {
          return std::any_of(rule.match.begin(), rule.match.end(),
                             [&](const Condition& theirs) { return theirs.Excludes(ours); });
        });
    if (excluded) {
      warn("the rule itself matches " + TextOf(rule.match, attributes));
      continue;
    }
    const auto end = rule.plans.begin() + static_cast<std::ptrdiff_t>(i);
    const auto taker = std::find_if(rule.plans.begin(), end, [&](const Plan& earlier) {
      return Takes(earlier.match, plan.match, rule.match);
    });
    if (taker != end) {
      warn("the plan in line " + std::to_string(taker->place.line) +
           " comes first and matches all of its requests");
    }
  }
}

}  // namespace sluice::rules
