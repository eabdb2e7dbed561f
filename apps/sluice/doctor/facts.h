#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sluice/time.h"

#include "daemon_config.h"
#include "daemon_files.h"
#include "doctor/metrics.h"
#include "rules/findings.h"
#include "rules/rule_set.h"

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
  Metrics now;
  Metrics recent;      // What counters grew by during `period`, and gauges as they are.
  std::string period;  // "in the last 60 minutes", "since the daemon started".
  Duration uptime{};
  bool kill_switch = false;
  std::vector<ActiveRule> rules;
  std::vector<BusyKeys> busy_keys;
  std::vector<FailOpenPeriod> fail_open;
};

struct Facts {
  WallInstant now{};
  std::optional<ConfigurationFacts> configuration;
  std::optional<DaemonFacts> daemon;
};

}  // namespace sluice::app::doctor
