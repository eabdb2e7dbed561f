#include <algorithm>
#include <set>
#include <string>

#include "core/quota.h"
#include "frontend/http/front_end_settings.h"
#include "rule_review.h"
#include "rules/value_reader.h"
#include "wire/ascii.h"
#include "wire/path_normalizer.h"
#include "wire/url_encoding.h"

namespace sluice::app {

namespace {

// The first of `needed` that is unknown; "" if all are known.
std::string FirstMissing(const std::vector<std::string>& needed,
                         const std::set<std::string, std::less<>>& known) {
  const auto found = std::ranges::find_if(
      needed, [&](const std::string& attribute) { return !known.contains(attribute); });
  return found == needed.end() ? "" : *found;
}

// What happens to the rule, and which attribute is missing; nothing where all are known.
struct Trap {
  std::string attribute;
  std::string consequence;
};

Trap FindTrap(const rules::Rule& rule, const rules::RuleSet::Needs& needs,
              const std::set<std::string, std::less<>>& known) {
  if (std::string match = FirstMissing(needs.match, known); !match.empty()) {
    return {std::move(match), "never applies to their requests"};
  }
  if (std::string key = FirstMissing(needs.key, known); !key.empty()) {
    return {std::move(key), rule.on_missing == rules::OnMissing::kDeny
                                ? "denies all their requests"
                                : "never limits their requests"};
  }
  return {FirstMissing(needs.cost, known), "refuses all their requests"};
}

// `text` percent-encoded for a path, except slashes.
std::string EncodedPath(std::string_view text) {
  std::string encoded;
  while (!text.empty()) {
    const std::size_t slash = text.find('/');
    wire::AppendPercentEncoded(encoded, text.substr(0, slash));
    encoded += slash == std::string_view::npos ? "" : "/";
    text.remove_prefix(slash == std::string_view::npos ? text.size() : slash + 1);
  }
  return encoded;
}

// The normal form of `text` with `settings`; "" where no path is such.
std::string NormalText(const rules::RuleSet::Compared& compared,
                       const wire::PathSettings& settings) {
  if (!compared.is_prefix) {
    std::string normal;
    return wire::AppendNormalPath(normal, EncodedPath(compared.text), settings) ? normal : "";
  }
  // A prefix may end within a segment, so only its case is compared.
  std::string normal = compared.text;
  if (settings.fold_case) {
    std::ranges::transform(normal, normal.begin(), wire::ToLower);
  }
  return normal;
}

void WarnOfPaths(const rules::Rule& rule, const rules::RuleSet& rules,
                 const ListenerConfig& listener, rules::Findings& findings) {
  for (const rules::RuleSet::Compared& compared : rules.TextsFor(rule, "endpoint")) {
    const std::string normal = NormalText(compared, listener.proxy.paths);
    if (normal == compared.text) {
      continue;
    }
    const std::string star = compared.is_prefix ? "*" : "";
    findings.warnings.push_back(
        {.message = "rule " + rule.id + ": no path is " + compared.text + star + " where " +
                    listener.address + " has strict paths: " +
                    (normal.empty() ? "such a path is refused" : "write " + normal + star),
         .place = rule.place});
  }
}

void ReviewConcurrency(const rules::Rule& rule, bool others_ask, rules::Findings& findings) {
  const bool is_error = rule.mode == rules::Mode::kEnforce && !others_ask;
  (is_error ? findings.errors : findings.warnings)
      .push_back({.message = "rule " + rule.id +
                             ": a proxy does not report the end of a request, so each one that it "
                             "passes on holds its slot for hold_ttl (" +
                             rules::DurationText(rule.quota.window) +
                             "): limit concurrent requests in the proxy, or " +
                             (is_error ? "in services that ask on a listener without proxy"
                                       : "narrow the rule's match to requests of services"),
                  .place = rule.place});
}

}  // namespace

void ReviewForProxies(const std::vector<ListenerConfig>& listeners, const rules::RuleSet& rules,
                      rules::Findings& findings) {
  bool has_proxies = false;
  bool others_ask = false;
  std::set<std::string, std::less<>> known(frontend::http::kProxiedAttributes.begin(),
                                           frontend::http::kProxiedAttributes.end());
  for (const ListenerConfig& listener : listeners) {
    has_proxies = has_proxies || listener.has_proxies;
    others_ask =
        others_ask || (listener.role == frontend::http::Role::kCheck && !listener.has_proxies);
    for (const auto* headers : {&listener.proxy.headers, &listener.proxy.trusted_headers}) {
      for (const auto& [attribute, field] : *headers) {
        known.insert(attribute);
      }
    }
  }
  if (!has_proxies) {
    return;
  }
  const auto strict = std::ranges::find_if(listeners, [](const ListenerConfig& listener) {
    return listener.has_proxies && listener.proxy.paths.strict;
  });
  for (const rules::Rule& rule : rules.rules()) {
    if (rule.mode == rules::Mode::kOff) {
      continue;
    }
    if (strict != listeners.end()) {
      WarnOfPaths(rule, rules, *strict, findings);
    }
    if (const Trap trap = FindTrap(rule, rules.NeedsOf(rule), known); !trap.attribute.empty()) {
      findings.warnings.push_back(
          {.message = "rule " + rule.id + ": proxies do not send " + trap.attribute +
                      SuggestAttribute(trap.attribute, known) + ", so this rule " +
                      trap.consequence +
                      ": name the header that has it in the listener's proxy: {trusted_headers: {" +
                      trap.attribute + ": ...}}, or put it into the query of /v1/check/http",
           .place = rule.place});
    } else if (rule.action == rules::Action::kLimit && core::HasHolds(rule.quota.algorithm)) {
      ReviewConcurrency(rule, others_ask, findings);
    }
  }
}

}  // namespace sluice::app
