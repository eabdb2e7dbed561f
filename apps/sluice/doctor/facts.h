#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sluice/time.h"

#include "daemon_config.h"
#include "daemon_files.h"
#include "doctor/nginx_config.h"
#include "rules/findings.h"
#include "rules/rule_set.h"
#include "telemetry/samples.h"

// What the checks look at: plain values, gathered in one place (gather.h), so that a check is a
// function from facts to findings and its test writes the facts down.
namespace sluice::app::doctor {

struct CertificateFact {
  std::string of;    // "listener 0.0.0.0:8443".
  std::string file;  // The PEM file.
  WallInstant not_after{};
};

// A configuration file, and the files that it names.
struct ConfigurationFacts {
  std::string file;
  DaemonConfig config;
  std::shared_ptr<const rules::RuleSet> rules;  // nullptr after errors.
  rules::Findings validation;                   // What `sluice validate` says.
  std::vector<CertificateFact> certificates;
  TableFiles table;
};

// A rule in force in a daemon.
struct ActiveRule {
  std::string id;
  std::string mode;  // "enforce", "shadow", "off": as it is now.
  std::string configured_mode;
  std::string source;
};

// The keys of one rule that count most, by a daemon's own account.
struct BusyKeys {
  struct Key {
    std::string text;  // "user_id=u_42"; several attributes with ", " between.
    double count = 0;
  };
  std::string rule;
  double total = 0;  // Over all keys; 0: not known.
  std::vector<Key> keys;
};

// A time during which requests passed without a limit.
struct FailOpenPeriod {
  std::string cause;  // "store", "kill-switch", "table-full".
  WallInstant begin{};
  std::optional<WallInstant> end;  // nullopt: it lasts.
};

// What a daemon's admin listener says.
struct DaemonFacts {
  std::string server;
  std::string failure;   // Why it could not be asked, and all below is empty; "": it answered.
  bool refused = false;  // It answered, but not to this caller: 401, or no admin listener.
  bool ready = true;
  telemetry::Samples now;
  telemetry::Samples recent;  // What counters grew by during `period`, and gauges as they are.
  std::string period;         // "in the last 60 minutes", "since the daemon started".
  Duration uptime{};
  std::size_t minutes = 0;  // Of the history; 0: there is none.
  // By rule: its decisions in the busiest minute of the history, over all keys.
  std::map<std::string, double, std::less<>> busiest_minute;
  bool kill_switch = false;
  std::vector<ActiveRule> rules;
  std::vector<BusyKeys> busy_keys;
  std::vector<FailOpenPeriod> fail_open;
};

// A server of `store: {redis: ...}`.
struct RedisFacts {
  std::string server;
  std::string failure;           // Why it could not be asked; "": it answered.
  bool expects_cluster = false;  // The configuration says that it is a node of a cluster.
  Duration clock_offset{};       // Its clock less this host's.
  Duration round_trip{};         // Of the question; the offset is wrong by half of it at most.
  std::map<std::string, std::string, std::less<>> info;  // Of INFO.
};

// The host on which the command runs. A path, a port or a limit that is not known causes nothing.
struct HostFacts {
  struct Listener {
    std::string address;
    std::vector<std::string> processes;  // That listen on its port, as far as this user sees.
  };
  bool knows_clock = false;
  bool clock_is_synchronised = false;
  std::vector<Listener> listeners;
  std::uint64_t daemon_files = 0;  // How many files the daemon may open; 0: not known.
  std::string table_folder;        // Where the table's file is; "": not known.
  std::uint64_t free_bytes = 0;    // There.
  std::uint64_t table_there = 0;   // The size of the table's file; 0: there is none.
  std::uint64_t table_needs = 0;
};

// A file of NGINX.
struct NginxFacts {
  std::string file;
  std::vector<NginxDirective> directives;
};

struct Facts {
  WallInstant now{};
  std::optional<ConfigurationFacts> configuration;
  std::optional<DaemonFacts> daemon;
  std::vector<RedisFacts> redis;
  std::optional<HostFacts> host;
  std::optional<NginxFacts> nginx;
};

}  // namespace sluice::app::doctor
