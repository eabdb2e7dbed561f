#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "doctor/checks.h"
#include "doctor/rule_checks.h"
#include "net/listener.h"

// What is wrong in a configuration and its rules before a daemon runs.
namespace sluice::app::doctor {

namespace {

using frontend::http::Role;
using rules::Rule;

// Whether other hosts can reach it. A Unix socket: no.
bool IsOpenToOthers(const ListenerConfig& listener) {
  const auto endpoint = net::ParseAddress(listener.address);
  return endpoint && !endpoint->address().is_loopback();
}

bool KnowsItsClients(const ListenerConfig& listener) {
  return !listener.token.empty() || (listener.tls && !listener.tls->client_ca.empty());
}

// invalid-configuration, validation: what `sluice validate` says, word by word.
void ReportValidation(const ConfigurationFacts& facts, FindingList& findings) {
  for (const Error& error : facts.validation.errors) {
    findings.push_back({.check = "invalid-configuration",
                        .severity = Severity::kProblem,
                        .seen = error.message,
                        .follows = "a daemon does not start with it, and a running one keeps its "
                                   "old rules",
                        .remedy = "mend it, then run sluice validate " + facts.file,
                        .place = error.place});
  }
  for (const Error& warning : facts.validation.warnings) {
    findings.push_back({.check = "validation",
                        .severity = Severity::kWarning,
                        .seen = warning.message,
                        .follows = {},
                        .remedy = {},
                        .place = warning.place});
  }
}

void CheckThatThereAreRules(const ConfigurationFacts& facts, FindingList& findings) {
  const DaemonConfig& config = facts.config;
  const bool others = config.envoy.has_value() || config.etcd.has_value();
  if (facts.rules != nullptr && facts.rules->rules().empty() && !others) {
    findings.push_back({.check = "no-rules",
                        .severity = Severity::kWarning,
                        .seen = "the configuration has no rules and names no file that has some",
                        .follows = "every request is allowed, unless rules are put over the API",
                        .remedy = "write rule_sources: [{files: [rules.yaml]}]",
                        .place = {.file = facts.file}});
  }
}

void CheckListeners(const ConfigurationFacts& facts, FindingList& findings) {
  bool has_admin = false;
  for (const ListenerConfig& listener : facts.config.listeners) {
    has_admin = has_admin || listener.role == Role::kAdmin;
    const bool is_open = IsOpenToOthers(listener) && !KnowsItsClients(listener);
    if (is_open && listener.protocol == Protocol::kResp) {
      findings.push_back(
          {.check = "open-listener",
           .severity = Severity::kWarning,
           .seen = fmt::format("the resp listener {} asks for no password", listener.address),
           .follows = "everyone who can connect can spend the units of any key",
           .remedy = "write auth: {password_file: FILE} in this listener, or listen on 127.0.0.1",
           .place = {.file = facts.file}});
    } else if (is_open && listener.role == Role::kCheck && !listener.has_proxies) {
      findings.push_back(
          {.check = "open-listener",
           .severity = Severity::kNote,
           .seen = fmt::format("the listener {} asks for no token", listener.address),
           .follows = "everyone who can connect can spend the units of any key",
           .remedy = "write auth: {token_file: FILE} in this listener, unless the network keeps "
                     "others away",
           .place = {.file = facts.file}});
    }
  }
  if (!has_admin) {
    findings.push_back({.check = "no-admin-listener",
                        .severity = Severity::kNote,
                        .seen = "no listener has the role admin",
                        .follows = "metrics, bans and modes cannot be read, nor by this command",
                        .remedy = "write - {address: \"127.0.0.1:6070\", role: admin}",
                        .place = {.file = facts.file}});
  }
}

// A proxy on another host is believed only if it is listed.
void CheckTrustedProxies(const ConfigurationFacts& facts, FindingList& findings) {
  for (const ListenerConfig& listener : facts.config.listeners) {
    const auto& trusted = listener.proxy.forwarding.trusted;
    const bool trusts_others = std::ranges::any_of(trusted, [](const rules::IpPrefix& block) {
      return !rules::IpPrefix::Parse("127.0.0.0/8")->Contains(block) &&
             !rules::IpPrefix::Parse("::1")->Contains(block);
    });
    if (!listener.has_proxies || !IsOpenToOthers(listener) || trusts_others) {
      continue;
    }
    findings.push_back({.check = "untrusted-proxy",
                        .severity = Severity::kWarning,
                        .seen = fmt::format(
                            "{} serves proxies on other hosts, and trusts only proxies on this one",
                            listener.address),
                        .follows = fmt::format(
                            "their {} is ignored, so that ip is the proxy's own address and all "
                            "clients share one limit",
                            listener.proxy.forwarding.header),
                        .remedy = "write proxy: {trusted: [ADDRESS OF THE PROXY]}",
                        .place = {.file = facts.file}});
  }
}

// Whether an enforced rule bounds all clients by what they cannot choose: their address, or all in
// one key.
bool HasBoundForAll(const ConfigurationFacts& facts) {
  return std::ranges::any_of(facts.rules->rules(), [&](const Rule& rule) {
    return rule.action == rules::Action::kLimit && rule.mode == rules::Mode::kEnforce &&
           facts.rules->NeedsOf(rule).match.empty() &&
           std::ranges::all_of(rule.key, [](const auto& part) { return part.name == "ip"; });
  });
}

// "api_key, which is the header X-Api-Key": an attribute of the key that a client of `listener`
// writes as it likes; "" for none.
std::string ChosenByClients(const ListenerConfig& listener, const Rule& rule,
                            const rules::RuleSet& set) {
  const auto enumerated = set.DetailsOf(rule).enumerated;
  for (const rules::KeyAttribute& part : rule.key) {
    if (std::ranges::find(enumerated, part.name) != enumerated.end()) {
      continue;
    }
    const auto header = std::ranges::find(listener.proxy.headers, part.name,
                                          &std::pair<std::string, std::string>::first);
    if (header != listener.proxy.headers.end()) {
      return fmt::format("{}, which is the header {}", part.name, header->second);
    }
    if (part.name == "endpoint" || part.name == "host") {
      return fmt::format("{}, which the client chooses", part.name);
    }
  }
  return "";
}

void CheckChosenKeys(const ConfigurationFacts& facts, FindingList& findings) {
  if (facts.rules == nullptr) {
    return;
  }
  const bool is_bounded = HasBoundForAll(facts);
  for (const Rule& rule : facts.rules->rules()) {
    std::string chosen;
    for (const ListenerConfig& listener : facts.config.listeners) {
      chosen = chosen.empty() && listener.has_proxies && rule.mode != rules::Mode::kOff
                   ? ChosenByClients(listener, rule, *facts.rules)
                   : chosen;
    }
    if (chosen.empty()) {
      continue;
    }
    findings.push_back(
        {.check = "client-chosen-key",
         .severity = is_bounded ? Severity::kNote : Severity::kWarning,
         .seen = fmt::format("rule {} is counted by {}", rule.id, chosen),
         .follows = "a client that sends another value has its full limit again, and each value "
                    "takes a slot of the table",
         .remedy = is_bounded ? "a rule per ip bounds it already; verify the value before it is "
                                "counted (proxy: {trusted_headers: ...})"
                              : "add a rule with key_pattern: \"ip:{ip}\", or count only a value "
                                "that the proxy has verified (proxy: {trusted_headers: ...})",
         .place = rule.place});
  }
}

void CheckCertificates(const Facts& facts, FindingList& findings) {
  constexpr auto kSoon = std::chrono::hours(24 * 14);
  for (const CertificateFact& certificate : facts.configuration->certificates) {
    const Duration left = certificate.not_after - facts.now;
    if (left > kSoon) {
      continue;
    }
    const auto at = std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(
            certificate.not_after.time_since_epoch()));
    const bool is_over = left <= Duration::zero();
    findings.push_back(
        {.check = "certificate-expires",
         .severity = is_over ? Severity::kProblem : Severity::kWarning,
         .seen = fmt::format("the certificate of {} {} on {:%Y-%m-%d}", certificate.of,
                             is_over ? "expired" : "expires",
                             fmt::gmtime(std::chrono::system_clock::to_time_t(at))),
         .follows = is_over ? "clients that verify it cannot connect"
                            : "from then on, clients that verify it cannot connect",
         .remedy = fmt::format("replace {}: a running daemon loads the new file by itself",
                               certificate.file),
         .place = {.file = certificate.file}});
  }
}

void CheckSnapshots(const ConfigurationFacts& facts, FindingList& findings) {
  if (!facts.table.path.starts_with("/dev/shm/") || !facts.table.snapshot.empty()) {
    return;
  }
  findings.push_back({.check = "no-snapshots",
                      .severity = Severity::kNote,
                      .seen = fmt::format("the table {} is in memory, and no snapshots are written",
                                          facts.table.path),
                      .follows = "a reboot gives every key its full limit again",
                      .remedy = "write table: {snapshots: FOLDER, snapshot_interval: 10s}",
                      .place = {.file = facts.file}});
}

}  // namespace

void CheckConfiguration(const Facts& facts, FindingList& findings) {
  if (!facts.configuration) {
    return;
  }
  const ConfigurationFacts& configuration = *facts.configuration;
  ReportValidation(configuration, findings);
  if (configuration.rules != nullptr) {
    for (Finding& finding : CheckRules(*configuration.rules)) {
      findings.push_back(std::move(finding));
    }
  }
  if (!configuration.validation.errors.empty()) {
    return;  // The rest would speak of a configuration that cannot be.
  }
  CheckThatThereAreRules(configuration, findings);
  CheckListeners(configuration, findings);
  CheckTrustedProxies(configuration, findings);
  CheckChosenKeys(configuration, findings);
  CheckCertificates(facts, findings);
  CheckSnapshots(configuration, findings);
}

}  // namespace sluice::app::doctor
