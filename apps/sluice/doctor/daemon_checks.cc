#include <chrono>
#include <string>

#include <fmt/format.h>

#include "doctor/checks.h"

// What a running daemon says of itself: whether it answers, what operators set, what loads.
namespace sluice::app::doctor {

namespace {

void CheckThatItAnswers(const DaemonFacts& daemon, FindingList& findings) {
  if (daemon.refused) {
    findings.push_back({.check = "daemon-refuses",
                        .severity = Severity::kWarning,
                        .seen = fmt::format("{}: {}", daemon.server, daemon.failure),
                        .follows = "nothing is known of what the daemon does",
                        .remedy = "name the admin listener with --server URL, and its token with "
                                  "--config FILE or --token-file FILE"});
  } else if (!daemon.failure.empty()) {
    findings.push_back(
        {.check = "daemon-unreachable",
         .severity = Severity::kProblem,
         .seen = fmt::format("{} does not answer: {}", daemon.server, daemon.failure),
         .follows = "callers get no decision; what they do then is up to them",
         .remedy = "see whether it runs: systemctl status sluice, journalctl -u sluice -n 50; or "
                   "name its admin listener with --server URL"});
  } else if (!daemon.ready) {
    findings.push_back(
        {.check = "daemon-not-ready",
         .severity = Severity::kProblem,
         .seen = fmt::format("{} says at /readyz that it is not ready", daemon.server),
         .follows = "load balancers send it no requests",
         .remedy = "wait, if it starts or stops; otherwise read its log"});
  }
}

void CheckKillSwitch(const DaemonFacts& daemon, FindingList& findings) {
  if (daemon.kill_switch) {
    findings.push_back({.check = "kill-switch-on",
                        .severity = Severity::kProblem,
                        .seen = "the kill switch is on",
                        .follows = "no request is limited or counted",
                        .remedy = "sluice kill-switch off"});
  }
}

void CheckModes(const DaemonFacts& daemon, FindingList& findings) {
  constexpr auto kLong = std::chrono::hours(24 * 7);
  for (const ActiveRule& rule : daemon.rules) {
    if (daemon.kill_switch) {
      continue;  // Every rule is off.
    }
    if (rule.mode != rule.configured_mode && rule.mode != "enforce") {
      findings.push_back(
          {.check = "mode-set",
           .severity = Severity::kWarning,
           .seen = fmt::format("rule {}: its mode is {}, set at run time; the rule says {}",
                               rule.id, rule.mode, rule.configured_mode),
           .follows = "it denies nothing, also after a restart",
           .remedy = fmt::format("sluice mode {} {}", rule.id, rule.configured_mode)});
    } else if (rule.mode == "shadow" && daemon.uptime >= kLong) {
      const auto days = std::chrono::duration_cast<std::chrono::hours>(daemon.uptime).count() / 24;
      findings.push_back(
          {.check = "shadow-for-long",
           .severity = Severity::kWarning,
           .seen = fmt::format("rule {} is in shadow mode, and the daemon runs for {} days",
                               rule.id, days),
           .follows = "it denies nothing",
           .remedy =
               fmt::format("look at sluice shadow-report, then sluice mode {} enforce", rule.id)});
    }
  }
}

void CheckReloads(const DaemonFacts& daemon, FindingList& findings) {
  const double rules = daemon.recent.Sum("sluice_rule_reloads_total", {{"result", "failed"}});
  if (rules > 0) {
    findings.push_back({.check = "rules-rejected",
                        .severity = Severity::kWarning,
                        .seen = fmt::format("{:.0f} load{} of the rules failed {}", rules,
                                            rules == 1 ? "" : "s", daemon.period),
                        .follows = "the daemon keeps its old rules until a load is good",
                        .remedy = "sluice validate FILE, then see the log for \"rules reloaded\""});
  }
  const double files = daemon.recent.Sum("sluice_credential_reloads_total", {{"result", "failed"}});
  if (files > 0) {
    findings.push_back({.check = "credentials-rejected",
                        .severity = Severity::kWarning,
                        .seen = fmt::format("{:.0f} load{} of certificates and tokens failed {}",
                                            files, files == 1 ? "" : "s", daemon.period),
                        .follows = "the daemon keeps the old ones, which may expire",
                        .remedy = "see the log for the file and the reason"});
  }
}

void CheckFailOpen(const Facts& facts, FindingList& findings) {
  for (const FailOpenPeriod& period : facts.daemon->fail_open) {
    const WallInstant end = period.end.value_or(facts.now);
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(end - period.begin).count();
    const bool lasts = !period.end.has_value();
    const auto ago =
        std::chrono::duration_cast<std::chrono::minutes>(facts.now - period.begin).count();
    const std::string cause = period.cause == "kill-switch" ? "the kill switch was on"
                              : period.cause == "table-full"
                                  ? "the table was full (when_full: allow)"
                                  : "the store did not answer";
    findings.push_back(
        {.check = "fail-open-period",
         .severity = lasts ? Severity::kProblem : Severity::kWarning,
         .seen = fmt::format("{} minutes ago requests began to pass without a limit, because {}; "
                             "that {} {} s",
                             ago, cause, lasts ? "lasts for" : "lasted", seconds),
         .follows = "limits were exceeded in that time by as much as clients sent",
         .remedy = period.cause == "kill-switch"  ? "sluice kill-switch off"
                   : period.cause == "table-full" ? "raise table.keys"
                                                  : "write on_store_error: local or deny in rules "
                                                    "that must hold, and see why Redis was away"});
  }
}

// Those that a configuration names are looked at there.
void CheckServedCertificates(const Facts& facts, FindingList& findings) {
  constexpr double kSoonDays = 14;
  constexpr double kDaySeconds = 86'400;
  if (facts.configuration && !facts.configuration->certificates.empty()) {
    return;
  }
  const double now = std::chrono::duration<double>(facts.now.time_since_epoch()).count();
  for (const auto* sample :
       facts.daemon->now.Of("sluice_tls_certificate_expiry_timestamp_seconds")) {
    const double days = (sample->value - now) / kDaySeconds;
    const auto listener = sample->labels.find("listener");
    if (days > kSoonDays || listener == sample->labels.end()) {
      continue;
    }
    findings.push_back(
        {.check = "certificate-expires",
         .severity = days <= 0 ? Severity::kProblem : Severity::kWarning,
         .seen = days <= 0
                     ? fmt::format("the certificate of listener {} has expired", listener->second)
                     : fmt::format("the certificate of listener {} expires in {:.0f} days",
                                   listener->second, days),
         .follows = "clients that verify it cannot connect from then on",
         .remedy =
             "replace the files that the listener's tls names: the daemon loads them by itself"});
  }
}

}  // namespace

void CheckDaemon(const Facts& facts, FindingList& findings) {
  if (!facts.daemon) {
    return;
  }
  CheckThatItAnswers(*facts.daemon, findings);
  CheckKillSwitch(*facts.daemon, findings);
  CheckModes(*facts.daemon, findings);
  CheckReloads(*facts.daemon, findings);
  CheckFailOpen(facts, findings);
  CheckServedCertificates(facts, findings);
}

}  // namespace sluice::app::doctor
