#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <utility>

#include "core/quota.h"
#include "frontend/http/front_end_settings.h"
#include "rule_review.h"
#include "rules/spelling.h"

namespace sluice::app {

namespace {

using rules::Rule;

// Names that other software uses for the attributes of every proxied request.
constexpr auto kOtherWords =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"path", "endpoint"},
                                                                  {"uri", "endpoint"},
                                                                  {"url", "endpoint"},
                                                                  {"route", "endpoint"},
                                                                  {"request_path", "endpoint"},
                                                                  {"verb", "method"},
                                                                  {"http_method", "method"},
                                                                  {"request_method", "method"},
                                                                  {"hostname", "host"},
                                                                  {"authority", "host"},
                                                                  {"remote_addr", "ip"},
                                                                  {"remote_address", "ip"},
                                                                  {"client_ip", "ip"},
                                                                  {"ip_address", "ip"}});

// Shorter names are similar to too many others.
constexpr std::size_t kShortestName = 5;

std::string NearlySpelled(std::string_view attribute,
                          const std::set<std::string, std::less<>>& known) {
  if (known.contains(attribute)) {
    return "";
  }
  std::vector<std::string_view> names;
  for (const std::string& name : known) {
    if (name.size() >= kShortestName) {
      names.push_back(name);
    }
  }
  return attribute.size() < kShortestName ? "" : rules::DidYouMean(attribute, names);
}

void HintAtAttributes(const rules::RuleSet& rules, rules::Findings& findings) {
  const std::set<std::string, std::less<>> known(frontend::http::kProxiedAttributes.begin(),
                                                 frontend::http::kProxiedAttributes.end());
  for (const Rule& rule : rules.rules()) {
    const rules::RuleSet::Needs needs = rules.NeedsOf(rule);
    for (const auto* names : {&needs.match, &needs.key, &needs.cost}) {
      for (const std::string& name : *names) {
        if (const std::string near = NearlySpelled(name, known); !near.empty()) {
          findings.warnings.push_back({.message = "rule " + rule.id + ": attribute " + name + near +
                                                  " If requests have it, nothing is wrong",
                                       .place = rule.place});
        }
      }
    }
  }
}

// The long-term rate of a rule, in units per second; 0 if it is not comparable.
double SustainedRate(const Rule& rule) {
  const core::Quota& quota = rule.quota;
  const bool counts = rule.action == rules::Action::kLimit && rule.mode != rules::Mode::kOff &&
                      !quota.unlimited && !core::HasHolds(quota.algorithm) &&
                      quota.window > Duration::zero();
  if (!counts || rule.states_cost) {
    return 0;
  }
  const Units units = core::LimitPerWindow(quota);
  return static_cast<double>(units) / std::chrono::duration<double>(quota.window).count();
}

// The attributes of the key, a line for each.
std::string KeyLines(const Rule& rule) {
  std::string key;
  for (const auto& attribute : rule.key) {
    key += attribute.name + '\n';
  }
  return key;
}

// Two rules with the same key that both charge the call's cost: if one allows far more than the
// other, it is never reached, or it counts something other than requests, which the other is then
// charged for too.
void HintAtCosts(const rules::RuleSet& rules, rules::Findings& findings) {
  std::map<std::string, const Rule*>
      tightest;  // By the key's attributes, for rules without a match.
  for (const Rule& rule : rules.rules()) {
    if (SustainedRate(rule) > 0 && rules.NeedsOf(rule).match.empty()) {
      const Rule*& known = tightest[KeyLines(rule)];
      if (known == nullptr || SustainedRate(rule) < SustainedRate(*known)) {
        known = &rule;
      }
    }
  }
  for (const Rule& rule : rules.rules()) {
    const auto found = tightest.find(KeyLines(rule));
    if (found == tightest.end() || !MayCountOtherUnits(rules, *found->second, rule)) {
      continue;
    }
    const std::string& tight = found->second->id;
    findings.warnings.push_back({.message = "rules " + tight + " and " + rule.id +
                                            " are both charged the cost of a request, and " +
                                            rule.id +
                                            " allows far more, so its limit is never reached. If " +
                                            tight + " counts requests, write cost: 1 in rule " +
                                            tight + "; if this is meant, write cost: request there",
                                 .place = found->second->place});
  }
}

}  // namespace

void HintAtRules(const std::vector<ListenerConfig>& listeners, const rules::RuleSet& rules,
                 rules::Findings& findings) {
  if (std::ranges::none_of(listeners, &ListenerConfig::has_proxies)) {
    HintAtAttributes(rules, findings);
  }
  HintAtCosts(rules, findings);
}

bool MayCountOtherUnits(const rules::RuleSet& rules, const Rule& tight, const Rule& wide) {
  constexpr double kFar = 50;
  const double rate = SustainedRate(tight);
  return rate > 0 && SustainedRate(wide) >= kFar * rate && KeyLines(tight) == KeyLines(wide) &&
         rules.NeedsOf(tight).match.empty();
}

std::string SuggestAttribute(std::string_view attribute,
                             const std::set<std::string, std::less<>>& known) {
  const auto* const other = std::ranges::find(
      kOtherWords, attribute, &std::pair<std::string_view, std::string_view>::first);
  if (other != kOtherWords.end() && known.contains(other->second)) {
    return " (did you mean " + std::string(other->second) + "?)";
  }
  const std::string near = NearlySpelled(attribute, known);
  return near.empty() ? "" : " (" + near.substr(2) + ")";
}

}  // namespace sluice::app
