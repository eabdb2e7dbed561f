#include "proxy_review.h"

#include <algorithm>
#include <set>
#include <string>

#include "frontend/http/proxy_settings.h"

namespace sluice::app {

namespace {

// The first of `needed` that is not told; "" if all are.
std::string FirstUntold(const std::vector<std::string>& needed,
                        const std::set<std::string, std::less<>>& told) {
  const auto found = std::ranges::find_if(
      needed, [&](const std::string& attribute) { return !told.contains(attribute); });
  return found == needed.end() ? "" : *found;
}

// What becomes of the rule, and for want of which attribute; nothing where all are told.
struct Trap {
  std::string attribute;
  std::string consequence;
};

Trap FindTrap(const rules::Rule& rule, const rules::RuleSet::Needs& needs,
              const std::set<std::string, std::less<>>& told) {
  if (std::string match = FirstUntold(needs.match, told); !match.empty()) {
    return {std::move(match), "applies to none of them"};
  }
  if (std::string key = FirstUntold(needs.key, told); !key.empty()) {
    return {std::move(key),
            rule.on_missing == rules::OnMissing::kDeny ? "denies them all" : "skips them all"};
  }
  return {FirstUntold(needs.cost, told), "cannot judge them, and they are refused"};
}

}  // namespace

void WarnOfUntoldAttributes(const std::vector<ListenerConfig>& listeners,
                            const rules::RuleSet& rules, rules::Findings& findings) {
  bool has_proxies = false;
  std::set<std::string, std::less<>> told(frontend::http::kToldAttributes.begin(),
                                          frontend::http::kToldAttributes.end());
  for (const ListenerConfig& listener : listeners) {
    has_proxies = has_proxies || listener.has_proxies;
    for (const auto& [attribute, field] : listener.proxy.headers) {
      told.insert(attribute);
    }
  }
  if (!has_proxies) {
    return;
  }
  for (const rules::Rule& rule : rules.rules()) {
    if (rule.mode == rules::Mode::kOff) {
      continue;
    }
    if (const Trap trap = FindTrap(rule, rules.NeedsOf(rule), told); !trap.attribute.empty()) {
      findings.warnings.push_back(
          {.message = "rule " + rule.id + ": proxies do not tell " + trap.attribute +
                      " of their requests, so it " + trap.consequence +
                      ": name the header that has it in the listener's proxy: {headers: {" +
                      trap.attribute + ": ...}}, or put it into the query of /v1/check/http",
           .place = rule.place});
    }
  }
}

}  // namespace sluice::app
