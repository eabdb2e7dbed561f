#include <string>

#include <fmt/format.h>

#include "doctor/checks.h"

// Where keys are kept: the table and its snapshots, and Redis.
namespace sluice::app::doctor {

namespace {

void CheckRoom(const DaemonFacts& daemon, FindingList& findings) {
  constexpr double kNearlyFull = 0.8;  // Of the slots: table.keys is as many.
  const double slots = daemon.now.Sum("sluice_table_slots");
  const double live = daemon.now.Sum("sluice_table_live_slots");
  const double blocks = daemon.now.Sum("sluice_table_blocks");
  const double used = daemon.now.Sum("sluice_table_blocks_in_use");
  if (slots > 0 && live > kNearlyFull * slots) {
    findings.push_back(
        {.check = "table-nearly-full",
         .severity = Severity::kWarning,
         .seen = fmt::format("{:.0f} of {:.0f} slots of the table are in use", live, slots),
         .follows = "when all are, keys are evicted and start with their full limit",
         .remedy = "raise table.keys; a restart keeps the keys"});
  }
  if (blocks > 0 && used > kNearlyFull * blocks) {
    findings.push_back(
        {.check = "table-nearly-full",
         .severity = Severity::kWarning,
         .seen = fmt::format("{:.0f} of {:.0f} blocks of the table are in use", used, blocks),
         .follows = "when all are, keys of logs, sliding windows and holds are evicted",
         .remedy = "raise table.blocks; a restart keeps the keys"});
  }
}

void CheckFullTable(const DaemonFacts& daemon, FindingList& findings) {
  const auto report = [&](double count, Severity severity, std::string_view what,
                          std::string_view follows) {
    if (count > 0) {
      findings.push_back({.check = "table-full",
                          .severity = severity,
                          .seen = fmt::format("{:.0f} {} {}", count, what, daemon.period),
                          .follows = std::string(follows),
                          .remedy =
                              "raise table.keys and table.blocks; sluice table info PATH says "
                              "which rule has the most keys"});
    }
  };
  report(daemon.recent.Sum("sluice_table_evictions_total"), Severity::kWarning,
         "keys were evicted because the table was full",
         "these clients had their full limit again");
  report(daemon.recent.Sum("sluice_table_full_denials_total"), Severity::kProblem,
         "checks were denied because the table was full", "new clients are refused");
  report(daemon.recent.Sum("sluice_table_full_allows_total"), Severity::kProblem,
         "checks were allowed uncounted because the table was full", "new clients are not limited");
}

void CheckSnapshotsOf(const DaemonFacts& daemon, FindingList& findings) {
  const double failures = daemon.recent.Sum("sluice_table_snapshot_failures_total");
  const double written = daemon.now.Sum("sluice_table_snapshots_total");
  const double age = daemon.now.Sum("sluice_table_snapshot_age_seconds");
  constexpr double kOld = 600;
  if (failures > 0) {
    findings.push_back(
        {.check = "snapshots-fail",
         .severity = Severity::kWarning,
         .seen = fmt::format("{:.0f} snapshots could not be written {}", failures, daemon.period),
         .follows = written > 0 ? fmt::format("a reboot now loses the last {:.0f} s of use", age)
                                : "a reboot now gives every key its full limit again",
         .remedy = "see the log for the reason: most often the disk is full, or the "
                   "folder belongs to another user"});
  } else if (written > 0 && age > kOld) {
    findings.push_back({.check = "snapshots-fail",
                        .severity = Severity::kWarning,
                        .seen = fmt::format("the newest snapshot is {:.0f} s old", age),
                        .follows = "a reboot now loses what was used since",
                        .remedy = "lower table.snapshot_interval, or see whether the disk hangs"});
  }
}

void CheckRedisCalls(const DaemonFacts& daemon, FindingList& findings) {
  double degraded = 0;
  std::string by_outcome;
  for (const char* outcome : {"degraded_allowed", "degraded_denied", "degraded_local"}) {
    const double count = daemon.recent.Sum("sluice_decisions_total", {{"outcome", outcome}});
    degraded += count;
    by_outcome += count > 0 ? fmt::format("{}{} {:.0f}", by_outcome.empty() ? "" : ", ",
                                          std::string_view(outcome).substr(9), count)
                            : "";
  }
  if (degraded > 0) {
    findings.push_back({.check = "store-degraded",
                        .severity = Severity::kWarning,
                        .seen = fmt::format("{:.0f} decisions were made without the store {} ({})",
                                            degraded, daemon.period, by_outcome),
                        .follows = "limits that nodes share were not exact in that time",
                        .remedy =
                            "see the log for the reason; on_store_error says what a rule does "
                            "meanwhile"});
  }
  const bool has_redis = daemon.now.Has("sluice_redis_connections_up");
  const double breakers = daemon.now.Sum("sluice_redis_breakers_open");
  if (has_redis && (breakers > 0 || daemon.now.Sum("sluice_redis_connections_up") == 0)) {
    findings.push_back(
        {.check = "redis-unreachable",
         .severity = Severity::kProblem,
         .seen = breakers > 0
                     ? fmt::format("the circuit breakers of {:.0f} threads are open", breakers)
                     : "the daemon has no connection to Redis",
         .follows = "rules decide by their on_store_error",
         .remedy = "redis-cli -h HOST -p PORT PING from this host; then see the daemon's log"});
  }
}

void CheckRedisErrors(const DaemonFacts& daemon, FindingList& findings) {
  const double calls = daemon.recent.Sum("sluice_redis_calls_total");
  const double failed = daemon.recent.Sum("sluice_redis_calls_total", {{"result", "failed"}});
  const double late = daemon.recent.Sum("sluice_redis_calls_total", {{"result", "timed_out"}});
  if (failed > 0) {
    findings.push_back(
        {.check = "redis-errors",
         .severity = Severity::kWarning,
         .seen = fmt::format("Redis answered {:.0f} of {:.0f} calls with an error {}", failed,
                             calls, daemon.period),
         .follows = "their rules decided by on_store_error",
         .remedy = "see the log for the error: out of memory, a missing permission of "
                   "the ACL user, or a read-only replica"});
  }
  if (calls > 0 && late > 0.01 * calls) {
    findings.push_back(
        {.check = "redis-slow",
         .severity = Severity::kWarning,
         .seen = fmt::format("{:.0f} of {:.0f} calls of Redis had no answer in time {}", late,
                             calls, daemon.period),
         .follows = "their rules decided by on_store_error",
         .remedy = "redis-cli --latency; raise store: {redis: {timeout: ...}}, or use "
                   "sync: lease"});
  }
}

}  // namespace

void CheckStore(const Facts& facts, FindingList& findings) {
  if (!facts.daemon) {
    return;
  }
  for (const auto check :
       {&CheckRoom, &CheckFullTable, &CheckSnapshotsOf, &CheckRedisCalls, &CheckRedisErrors}) {
    check(*facts.daemon, findings);
  }
}

}  // namespace sluice::app::doctor
