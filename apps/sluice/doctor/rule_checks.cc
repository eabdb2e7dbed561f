#include "doctor/rule_checks.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "core/quota.h"
#include "doctor/quota_bounds.h"
#include "rule_review.h"

namespace sluice::app::doctor {

namespace {

using rules::Action;
using rules::Mode;
using rules::Rule;
using rules::RuleSet;

bool Counts(const Rule& rule) {
  return rule.action == Action::kLimit && rule.mode != Mode::kOff;
}

// Whether `rule` has a key for each request for which `other` has one.
bool HasItsKeys(const Rule& rule, const Rule& other) {
  return std::ranges::all_of(rule.key, [&](const rules::KeyAttribute& ours) {
    return std::ranges::any_of(
        other.key, [&](const rules::KeyAttribute& theirs) { return ours.name == theirs.name; });
  });
}

// Whether each request costs at least as much under `rule` as under `other`.
bool CostsAtLeast(const Rule& rule, const RuleSet::Details& details, const Rule& other,
                  const RuleSet::Details& others) {
  if (details.fixed_cost && others.fixed_cost) {
    return *details.fixed_cost >= *others.fixed_cost;
  }
  return !details.fixed_cost && !others.fixed_cost && rule.cost_attribute == other.cost_attribute;
}

// Whether `rule` never lets so much pass that `other` could deny.
bool Shields(const ReviewedRules& rules, const Rule& rule, const Rule& other) {
  constexpr std::size_t kMostPairs = 10'000;  // Of numbers: a rule may have a million overrides.
  const bool same_place = rule.sync != core::Sync::kLocal || other.sync == core::Sync::kLocal;
  if (rule.mode != Mode::kEnforce || rule.action != Action::kLimit || !same_place ||
      rules.replaced[rule.number] || !NeverExceeds(rule.quota, other.quota) ||
      !HasItsKeys(rule, other) || !rules.set.Covers(rule, other)) {
    return false;
  }
  const RuleSet::Details& details = rules.details[rule.number];
  const RuleSet::Details& others = rules.details[other.number];
  return CostsAtLeast(rule, details, other, others) &&
         details.quotas.size() * others.quotas.size() <= kMostPairs &&
         std::ranges::all_of(details.quotas, [&](const core::Quota& grants) {
           return std::ranges::all_of(others.quotas, [&](const core::Quota& limit) {
             return NeverExceeds(grants, limit);
           });
         });
}

// The most that one request may cost.
Units LargestCost(const core::Quota& quota) {
  return core::IsBucket(quota.algorithm) && quota.rate == 0 ? 0 : quota.limit;
}

}  // namespace

ReviewedRules::ReviewedRules(const RuleSet& reviewed)
    : set(reviewed), replaced(reviewed.rules().size(), false) {
  for (const Rule& rule : set.rules()) {
    details.push_back(set.DetailsOf(rule));
    for (const std::uint32_t other :
         rule.mode == Mode::kEnforce ? details.back().replaces : std::vector<std::uint32_t>()) {
      replaced[other] = true;
    }
  }
}

void CheckCosts(const ReviewedRules& rules, FindingList& findings) {
  for (const Rule& rule : rules.set.rules()) {
    if (!Counts(rule)) {
      continue;
    }
    const RuleSet::Details& details = rules.details[rule.number];
    const Units cost = details.fixed_cost.value_or(1);
    const auto starved = std::ranges::find_if(details.quotas, [&](const core::Quota& quota) {
      return !quota.unlimited && quota.limit > 0 && cost > LargestCost(quota);
    });
    if (starved == details.quotas.end()) {
      continue;
    }
    const bool dry = LargestCost(*starved) == 0;
    const bool own = starved == details.quotas.begin();
    const std::string of = own ? "its" : "a plan's or override's";
    findings.push_back(
        {.check = "cost-above-limit",
         .severity = rule.mode == Mode::kEnforce ? Severity::kProblem : Severity::kWarning,
         .seen = dry ? fmt::format("rule {}: {} numbers are {}, and a rate of 0 never refills",
                                   rule.id, of, rules::QuotaText(*starved))
                     : fmt::format("rule {}: a request costs {}, and {} numbers are {}", rule.id,
                                   cost, of, rules::QuotaText(*starved)),
         .follows = own ? "it denies every request, and waiting does not help"
                        : "it denies every request that gets these numbers",
         .remedy = dry ? "write a rate above 0, or action: deny to refuse these requests"
                       : fmt::format("write a {} of at least {}, or a lower cost",
                                     core::IsBucket(starved->algorithm) ? "burst" : "limit", cost),
         .place = rule.place});
  }
}

void CheckUnlimited(const ReviewedRules& rules, FindingList& findings) {
  for (const Rule& rule : rules.set.rules()) {
    if (!Counts(rule)) {
      continue;
    }
    const RuleSet::Details& details = rules.details[rule.number];
    if (details.fixed_cost == 0) {
      findings.push_back({.check = "never-denies",
                          .severity = Severity::kWarning,
                          .seen = fmt::format("rule {}: each request costs 0", rule.id),
                          .follows = "nothing is charged, so it never denies",
                          .remedy = "write cost: 1, or action: allow if nothing shall be counted",
                          .place = rule.place});
    } else if (std::ranges::all_of(details.quotas, &core::Quota::unlimited)) {
      findings.push_back({.check = "never-denies",
                          .severity = Severity::kNote,
                          .seen = fmt::format("rule {} is unlimited", rule.id),
                          .follows = "it never denies",
                          .remedy = "write a limit, if it shall have one",
                          .place = rule.place});
    }
  }
}

void CheckReserves(const ReviewedRules& rules, FindingList& findings) {
  for (const Rule& rule : rules.set.rules()) {
    const core::Reserves* const reserves = rule.quota.reserves;
    if (!Counts(rule) || reserves == nullptr) {
      continue;
    }
    for (const core::Quota& quota : rules.details[rule.number].quotas) {
      for (const core::Reserve& share :
           quota.unlimited ? std::span<const core::Reserve>() : reserves->shares()) {
        if (share.Slots(quota.limit) > 0 || quota.limit == 0) {
          continue;
        }
        findings.push_back(
            {.check = "empty-reserve",
             .severity = Severity::kWarning,
             .seen = fmt::format("rule {}: reserve {}: {}% of a limit of {} is less than one slot",
                                 rule.id, share.priority, share.percent, quota.limit),
             .follows = "nothing is reserved: shares are rounded down to whole slots",
             .remedy = fmt::format("write {}%, which is one slot, or a limit of at least {}",
                                   (100 + quota.limit - 1) / quota.limit,
                                   (100 + share.percent - 1) / share.percent),
             .place = rule.place});
      }
    }
    if (rule.quota.limit > 0 && core::CeilingOf(rule.quota) == 0) {
      findings.push_back(
          {.check = "empty-reserve",
           .severity = Severity::kNote,
           .seen = fmt::format("rule {}: all {} slots are reserved", rule.id, rule.quota.limit),
           .follows = "every request without one of these priorities is denied",
           .remedy = "reserve less than 100%, if others shall pass too",
           .place = rule.place});
    }
  }
}

void CheckReplaced(const ReviewedRules& rules, FindingList& findings) {
  if (rules.details.size() > kMostComparedRules) {
    return;
  }
  for (const Rule& rule : rules.set.rules()) {
    if (rule.mode == Mode::kOff) {
      continue;
    }
    for (const Rule& other : rules.set.rules()) {
      const auto& replaces = rules.details[other.number].replaces;
      const bool takes_over =
          std::ranges::find(replaces, rule.number) != replaces.end() &&
          (other.on_missing == rules::OnMissing::kDeny || HasItsKeys(other, rule));
      const bool exempts = other.action == Action::kAllow && rule.action == Action::kLimit;
      const bool refuses = other.action == Action::kDeny && rule.action == Action::kLimit;
      // Matches are compared last: they cost most, and few pairs come so far.
      if (&other == &rule || other.mode != Mode::kEnforce || rules.replaced[other.number] ||
          (!takes_over && !exempts && !refuses) || !rules.set.Covers(other, rule)) {
        continue;
      }
      findings.push_back(
          {.check = "replaced-rule",
           .severity = Severity::kWarning,
           .seen = fmt::format("rule {}: {} {} all of its requests", rule.id, other.id,
                               takes_over ? "replaces it for"
                               : exempts  ? "allows"
                                          : "refuses"),
           .follows = "it never counts",
           .remedy = fmt::format("remove rule {}, or narrow the match of {}", rule.id, other.id),
           .place = rule.place});
      break;
    }
  }
}

void CheckUnreachable(const ReviewedRules& rules, FindingList& findings) {
  if (rules.details.size() > kMostComparedRules) {
    return;
  }
  for (const Rule& rule : rules.set.rules()) {
    if (!Counts(rule)) {
      continue;
    }
    for (const Rule& other : rules.set.rules()) {
      // Of two that shield each other, the later one is superfluous.
      if (&other == &rule || !Shields(rules, other, rule) ||
          (other.number > rule.number && Shields(rules, rule, other)) ||
          MayCountOtherUnits(rules.set, other, rule)) {
        continue;
      }
      findings.push_back(
          {.check = "unreachable-limit",
           .severity = Severity::kWarning,
           .seen =
               fmt::format("rule {} ({}): {} ({}) applies to all of its requests", rule.id,
                           rules::QuotaText(rule.quota), other.id, rules::QuotaText(other.quota)),
           .follows = fmt::format("{} never denies: {} denies first", rule.id, other.id),
           .remedy = fmt::format("lower the limit of {}, or remove it", rule.id),
           .place = rule.place});
      break;
    }
  }
}

FindingList CheckRules(const RuleSet& set) {
  const ReviewedRules rules(set);
  FindingList findings;
  CheckCosts(rules, findings);
  CheckUnlimited(rules, findings);
  CheckReserves(rules, findings);
  CheckReplaced(rules, findings);
  CheckUnreachable(rules, findings);
  return findings;
}

}  // namespace sluice::app::doctor
