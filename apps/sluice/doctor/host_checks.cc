#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "doctor/checks.h"

// The host on which the daemon runs.
namespace sluice::app::doctor {

namespace {

// Where a step of the clock reaches limits: nodes that share a Redis, and windows of the calendar.
bool NeedsCivilTime(const Facts& facts) {
  if (!facts.configuration) {
    return false;
  }
  const auto& rules = facts.configuration->rules;
  return facts.configuration->config.redis.has_value() ||
         (rules != nullptr && std::ranges::any_of(rules->rules(), [](const rules::Rule& rule) {
            return rule.quota.calendar != nullptr;
          }));
}

void CheckHostClock(const Facts& facts, FindingList& findings) {
  const HostFacts& host = *facts.host;
  if (!host.knows_clock || host.clock_is_synchronised) {
    return;
  }
  const bool matters = NeedsCivilTime(facts);
  findings.push_back(
      {.check = "clock-not-synchronised",
       .severity = matters ? Severity::kWarning : Severity::kNote,
       .seen = "the kernel says that this host's clock is not synchronised (adjtimex)",
       .follows = matters
                      ? "calendar windows begin at the wrong time, and nodes and Redis drift apart"
                      : "times in answers and logs may be wrong; limits of this node are not",
       .remedy = "run chrony or systemd-timesyncd: timedatectl set-ntp true. In a container, look "
                 "at the host"});
}

void CheckFiles(const Facts& facts, FindingList& findings) {
  constexpr std::uint64_t kOthers = 64;  // Listeners, tables, logs, Redis, etcd.
  const std::uint64_t limit = facts.host->daemon_files;
  if (limit == 0 || !facts.configuration) {
    return;
  }
  const std::uint64_t needs = facts.configuration->config.connections + kOthers;
  if (limit >= needs) {
    return;
  }
  findings.push_back(
      {.check = "too-few-files",
       .severity = Severity::kWarning,
       .seen = fmt::format("the daemon may open {} files, and `connections` is {}", limit,
                           facts.configuration->config.connections),
       .follows = "connections beyond that are not accepted, and callers wait",
       .remedy = fmt::format("write LimitNOFILE={} in its systemd unit (ulimit -n), or lower "
                             "connections",
                             needs)});
}

void CheckPorts(const Facts& facts, FindingList& findings) {
  for (const HostFacts::Listener& listener : facts.host->listeners) {
    if (listener.processes.size() < 2) {
      continue;
    }
    std::string processes;
    for (const std::string& process : listener.processes) {
      processes += (processes.empty() ? "" : ", ") + process;
    }
    findings.push_back(
        {.check = "shared-port",
         .severity = Severity::kProblem,
         .seen = fmt::format("{} processes listen on {}: {}", listener.processes.size(),
                             listener.address, processes),
         .follows = "the kernel spreads connections over them (SO_REUSEPORT), and each counts in a "
                    "table of its own: limits pass once for each",
         .remedy = "stop all but one; one daemon uses all cores. To share limits between daemons, "
                   "use store: {redis: ...}"});
  }
}

void CheckMemoryFor(const Facts& facts, FindingList& findings) {
  const HostFacts& host = *facts.host;
  const std::uint64_t more =
      host.table_needs > host.table_there ? host.table_needs - host.table_there : 0;
  if (host.table_folder.empty() || more <= host.free_bytes) {
    return;
  }
  constexpr std::uint64_t kMiB = 1U << 20U;
  findings.push_back(
      {.check = "no-room-for-table",
       .severity = Severity::kProblem,
       .seen = fmt::format("the table needs {} MiB more, and {} has {} MiB free", more / kMiB,
                           host.table_folder, host.free_bytes / kMiB),
       .follows = "the daemon does not start, or is killed when it touches the memory",
       .remedy = "lower table.keys, or enlarge the file system: mount -o remount,size=1G /dev/shm; "
                 "docker run --shm-size=1g"});
}

}  // namespace

void CheckHost(const Facts& facts, FindingList& findings) {
  if (!facts.host) {
    return;
  }
  for (const auto check : {&CheckHostClock, &CheckFiles, &CheckPorts, &CheckMemoryFor}) {
    check(facts, findings);
  }
}

}  // namespace sluice::app::doctor
