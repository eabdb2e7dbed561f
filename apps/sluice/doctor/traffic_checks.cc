#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <ratio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/quota.h"
#include "doctor/checks.h"
#include "doctor/spellings.h"
#include "rules/ip_address.h"

// What requests look like: which rules meet them, by which attributes, under which keys.
namespace sluice::app::doctor {

namespace {

constexpr double kFew = 100;  // Requests or decisions: fewer show nothing.

// "93%"
std::string Percent(double part, double whole) {
  return fmt::format("{:.0f}%", 100 * part / whole);
}

void CheckThatRulesApply(const DaemonFacts& daemon, FindingList& findings) {
  const double all = daemon.recent.Sum("sluice_requests_total");
  const double none = daemon.recent.Sum("sluice_requests_total", {{"result", "no_rule"}});
  if (all < kFew || none <= all / 2) {
    return;
  }
  findings.push_back({.check = "no-rule-applies",
                      .severity = Severity::kWarning,
                      .seen = fmt::format("no rule applied to {:.0f} of {:.0f} requests ({}) {}",
                                          none, all, Percent(none, all), daemon.period),
                      .follows = "these requests are not limited",
                      .remedy = "sluice explain key=value ... with a request's attributes says why "
                                "each rule does not apply"});
}

// "user_id (120 times), plan (3 times)": what requests lack, the most frequent first.
std::string MissingAttributes(const DaemonFacts& daemon) {
  std::vector<std::pair<double, std::string>> missing;
  for (const auto* sample : daemon.recent.Of("sluice_missing_attributes_total")) {
    if (const auto name = sample->labels.find("attribute");
        name != sample->labels.end() && sample->value > 0) {
      missing.emplace_back(-sample->value, name->second);
    }
  }
  std::ranges::sort(missing);
  std::string text;
  for (const auto& [count, name] : missing) {
    text += fmt::format("{}{} ({:.0f} times)", text.empty() ? "" : ", ", name, -count);
  }
  return text;
}

void CheckThatAttributesArrive(const DaemonFacts& daemon, FindingList& findings) {
  std::map<std::string, std::pair<double, double>> by_rule;  // All decisions, and skipped ones.
  for (const auto* sample : daemon.recent.Of("sluice_decisions_total")) {
    const auto rule = sample->labels.find("rule");
    const auto outcome = sample->labels.find("outcome");
    if (rule != sample->labels.end() && outcome != sample->labels.end()) {
      auto& [all, skipped] = by_rule[rule->second];
      all += sample->value;
      skipped += outcome->second == "skipped" ? sample->value : 0;
    }
  }
  for (const auto& [rule, counts] : by_rule) {
    const auto& [all, skipped] = counts;
    if (all < kFew || skipped < 0.9 * all) {
      continue;
    }
    findings.push_back(
        {.check = "attribute-missing",
         .severity = Severity::kWarning,
         .seen = fmt::format(
             "rule {} was skipped by {:.0f} of {:.0f} requests ({}) {}; missing: {}", rule, skipped,
             all, Percent(skipped, all), daemon.period, MissingAttributes(daemon)),
         .follows = "it does not limit requests that lack an attribute of its key",
         .remedy = "have callers send the attribute, or the proxy (proxy: {trusted_headers: ...}); "
                   "write on_missing: deny to refuse such requests"});
  }
}

void CheckForwarding(const DaemonFacts& daemon, FindingList& findings) {
  const double untrusted = daemon.recent.Sum("sluice_untrusted_forwarding_total");
  if (untrusted <= 0) {
    return;
  }
  findings.push_back(
      {.check = "untrusted-forwarding",
       .severity = Severity::kWarning,
       .seen =
           fmt::format("{:.0f} requests named a client's address, but came from an address that "
                       "is no trusted proxy, {}",
                       untrusted, daemon.period),
       .follows = "the header was ignored, and ip was the address of the sender: if that is your "
                  "proxy, all its clients share one limit",
       .remedy = "write proxy: {trusted: [ADDRESS]}; the log has the address of the first one"});
}

// The value of the attribute ip in a key's text; nullopt if it has none.
std::optional<rules::IpAddress> AddressIn(std::string_view key) {
  constexpr std::string_view kName = "ip=";
  const std::size_t at = key.starts_with(kName) ? 0 : key.find(", ip=");
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  key.remove_prefix(at + (at == 0 ? kName.size() : kName.size() + 2));
  key = key.substr(0, key.find(", "));
  return rules::IpAddress::Parse(key.substr(0, key.find('/')));
}

bool IsPrivate(const rules::IpAddress& address) {
  static const std::vector<rules::IpPrefix> blocks = [] {
    std::vector<rules::IpPrefix> parsed;
    for (const char* text : {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8",
                             "100.64.0.0/10", "::1", "fc00::/7", "fe80::/10"}) {
      parsed.push_back(*rules::IpPrefix::Parse(text));
    }
    return parsed;
  }();
  return std::ranges::any_of(blocks,
                             [&](const rules::IpPrefix& block) { return block.Contains(address); });
}

void CheckClientAddresses(const DaemonFacts& daemon, FindingList& findings) {
  constexpr std::size_t kFewAddresses = 3;
  for (const BusyKeys& busy : daemon.busy_keys) {
    std::map<std::string, double> by_address;
    double shown = 0;
    for (const BusyKeys::Key& key : busy.keys) {
      const auto address = AddressIn(key.text);
      if (address && IsPrivate(*address)) {
        by_address[std::string(address->Text().view())] += key.count;
        shown += key.count;
      }
    }
    if (busy.total < kFew || by_address.empty() || by_address.size() > kFewAddresses ||
        shown < 0.95 * busy.total) {
      continue;
    }
    std::string addresses;
    for (const auto& [address, count] : by_address) {
      addresses += (addresses.empty() ? "" : ", ") + address;
    }
    findings.push_back(
        {.check = "one-client-address",
         .severity = Severity::kWarning,
         .seen = fmt::format("rule {}: {} of its {:.0f} requests came from {}", busy.rule,
                             Percent(shown, busy.total), busy.total, addresses),
         .follows = "if that is a proxy or a load balancer, all clients share one limit",
         .remedy = "have the proxy pass the client's address on, and write proxy: {trusted: "
                   "[ADDRESS]}; behind a balancer NGINX needs set_real_ip_from"});
  }
}

void CheckKeyGrowth(const DaemonFacts& daemon, FindingList& findings) {
  constexpr double kMany = 1'000;
  double decided = 0;
  for (const char* outcome : {"allowed", "denied", "shadow_allowed", "shadow_denied"}) {
    decided += daemon.recent.Sum("sluice_decisions_total", {{"outcome", outcome}});
  }
  const double inserts = daemon.recent.Sum("sluice_table_inserts_total");
  if (decided < kMany || inserts < decided / 2) {
    return;
  }
  findings.push_back(
      {.check = "keys-grow",
       .severity = Severity::kWarning,
       .seen = fmt::format("{:.0f} decisions made {:.0f} new keys ({}) {}", decided, inserts,
                           Percent(inserts, decided), daemon.period),
       .follows =
           "if most requests have a key of their own, none of them is limited, and the table "
           "fills",
       .remedy = "look at sluice top or sluice table info PATH for the rule; count by an attribute "
                 "that the client cannot choose"});
}

void CheckSpellings(const DaemonFacts& daemon, FindingList& findings) {
  for (const BusyKeys& busy : daemon.busy_keys) {
    std::map<std::string, const BusyKeys::Key*> first;
    std::size_t repeated = 0;
    std::string example;
    for (const BusyKeys::Key& key : busy.keys) {
      // Of several attributes, spellings of the whole text are compared.
      const std::size_t equals = key.text.find('=');
      const std::string_view value =
          std::string_view(key.text).substr(equals == std::string::npos ? 0 : equals + 1);
      const auto [at, is_new] = first.try_emplace(PlainSpelling(value), &key);
      if (is_new || at->second->text == key.text) {
        continue;
      }
      ++repeated;
      if (example.empty()) {
        const std::string& other = at->second->text;
        example = fmt::format("{} and {} differ by {}", other, key.text,
                              DifferenceOf(other.substr(other.find('=') + 1), value));
      }
    }
    if (repeated == 0) {
      continue;
    }
    findings.push_back(
        {.check = "several-spellings",
         .severity = Severity::kWarning,
         .seen = fmt::format("rule {}: {} of its busiest keys {} of another one: {}", busy.rule,
                             repeated, repeated == 1 ? "is a spelling" : "are spellings", example),
         .follows = "if both are one client, it has its limit several times",
         .remedy = "declare the type (attributes: {NAME: {type: ip}} or host), write paths: strict "
                   "for paths, or send one spelling"});
  }
}

void CheckCallers(const DaemonFacts& daemon, FindingList& findings) {
  for (const std::string& listener :
       daemon.recent.Values("sluice_http_requests_total", "listener")) {
    const double all = daemon.recent.Sum("sluice_http_requests_total", {{"listener", listener}});
    double wrong = 0;
    std::string by_status;
    for (const char* status : {"400", "401", "404", "500"}) {
      const double count = daemon.recent.Sum("sluice_http_requests_total",
                                             {{"listener", listener}, {"status", status}});
      wrong += count;
      by_status +=
          count > 0 ? fmt::format("{}{} {:.0f} times", by_status.empty() ? "" : ", ", status, count)
                    : "";
    }
    if (all < kFew || wrong < 0.01 * all) {
      continue;
    }
    findings.push_back(
        {.check = "callers-fail",
         .severity = Severity::kWarning,
         .seen = fmt::format("listener {} answered {} of {:.0f} requests {}", listener, by_status,
                             all, daemon.period),
         .follows = "these requests were not judged; a caller or a proxy is configured wrongly",
         .remedy = "the log has a line for each status and minute with the reason"});
  }
}

void CheckConnections(const DaemonFacts& daemon, FindingList& findings) {
  const double all = daemon.recent.Sum("sluice_connections_refused_total");
  const double peer = daemon.recent.Sum("sluice_peer_connections_refused_total");
  if (all > 0) {
    findings.push_back(
        {.check = "connections-refused",
         .severity = Severity::kWarning,
         .seen = fmt::format("{:.0f} connections were refused {}, because as many as "
                             "`connections` allows were open",
                             all, daemon.period),
         .follows = "callers got no decision",
         .remedy = "raise connections, or have callers keep and share connections"});
  }
  if (peer > 0) {
    findings.push_back({.check = "connections-refused",
                        .severity = Severity::kWarning,
                        .seen = fmt::format(
                            "{:.0f} connections of one address were refused {}, because as many as "
                            "`connections_per_peer` allows were open",
                            peer, daemon.period),
                        .follows = "callers behind that address got no decision",
                        .remedy = "raise connections_per_peer if the address is a proxy"});
  }
}

// Whether `quota` allows `busiest` units in each minute, all by one key.
bool AllowsAll(const core::Quota& quota, double busiest) {
  if (quota.unlimited || core::HasHolds(quota.algorithm) || quota.calendar != nullptr) {
    return false;
  }
  const double window = std::chrono::duration<double, std::ratio<60>>(quota.window).count();
  const auto limit = static_cast<double>(quota.limit);
  return core::IsBucket(quota.algorithm)
             ? static_cast<double>(quota.rate) / window >= busiest && limit >= 2 * busiest
             : limit >= busiest * (std::ceil(window) + 1);
}

// A limit that the whole traffic of the busiest minute does not reach. Costs that callers state are
// not known here, so only rules are looked at whose requests cost the same.
void CheckReach(const Facts& facts, FindingList& findings) {
  constexpr double kMany = 1'000;
  constexpr std::size_t kHour = 60;
  if (!facts.configuration || facts.configuration->rules == nullptr ||
      facts.daemon->minutes < kHour) {
    return;
  }
  const rules::RuleSet& set = *facts.configuration->rules;
  for (const auto& [id, busiest] : facts.daemon->busiest_minute) {
    const rules::Rule* const rule = set.Find(id);
    if (rule == nullptr || rule->key.empty() || busiest == 0 ||
        facts.daemon->recent.Sum("sluice_decisions_total", {{"rule", id}}) < kMany) {
      continue;
    }
    const rules::RuleSet::Details details = set.DetailsOf(*rule);
    const bool reaches =
        !details.fixed_cost || !std::ranges::all_of(details.quotas, [&](const core::Quota& quota) {
          return AllowsAll(quota, busiest * static_cast<double>(*details.fixed_cost));
        });
    if (reaches) {
      continue;
    }
    findings.push_back(
        {.check = "limit-out-of-reach",
         .severity = Severity::kNote,
         .seen = fmt::format("rule {} ({}): all of its keys together had at most {:.0f} requests a "
                             "minute in the last hour",
                             id, rules::QuotaText(rule->quota), busiest),
         .follows = "it denies nothing, even if all of them came from one client",
         .remedy = "sluice suggest with a log of requests finds a limit that fits",
         .place = rule->place});
  }
}

}  // namespace

void CheckTraffic(const Facts& facts, FindingList& findings) {
  if (!facts.daemon) {
    return;
  }
  for (const auto check :
       {&CheckThatRulesApply, &CheckThatAttributesArrive, &CheckForwarding, &CheckClientAddresses,
        &CheckKeyGrowth, &CheckSpellings, &CheckCallers, &CheckConnections}) {
    check(*facts.daemon, findings);
  }
  CheckReach(facts, findings);
}

}  // namespace sluice::app::doctor
