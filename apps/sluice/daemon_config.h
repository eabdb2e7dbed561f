#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/limiter.h"
#include "sluice/result.h"
#include "sluice/time.h"

#include "control/envoy_config_loader.h"
#include "envoy/settings.h"
#include "etcd_config.h"
#include "listener_config.h"
#include "otlp_config.h"
#include "rules/findings.h"
#include "rules/rule_set.h"
#include "store_config.h"

namespace sluice::app {

// Envoy's rate limit service, as it is configured: `envoy:` in sluice.yaml, or the environment.
struct EnvoyConfig {
  control::EnvoyFiles files;
  envoy::Settings settings;
  bool healthy_with_a_configuration = false;  // Only with one that has a domain is it healthy.
  Duration max_connection_age{};              // 0: no end.
  Duration max_connection_age_grace = std::chrono::hours(1);
};

struct TableConfig {
  std::string path;  // "": see DefaultTablePath().
  std::size_t keys = 1'000'000;
  std::size_t blocks = 0;  // 0: a quarter of `keys`.
  WhenFull when_full = WhenFull::kEvict;
  std::string snapshots;  // A folder; "": see DefaultSnapshotFolder().
  Duration snapshot_interval = std::chrono::seconds(10);  // 0: none are written.
};

// Answers to checks with an Idempotency-Key.
struct IdempotencyConfig {
  Duration keep = std::chrono::hours(24);
  std::size_t mebibytes = 64;  // 0: none are kept, and keys are ignored.
  std::string caller;          // The attribute that says whose a key is; "": none does.
};

// When a key is reported that makes a large share of a rule's requests.
struct HotKeyConfig {
  double share = 0.1;            // 0: never.
  std::size_t requests = 1'000;  // Of the rule, in half a minute; fewer report nothing.
};

// The last decisions.
struct DecisionsConfig {
  std::size_t mebibytes = 4;  // 0: none are kept.
};

// The decision log. The shares are from 0 to 1.
struct DecisionLogConfig {
  std::string path;  // Absolute, or relative to where the daemon runs.
  double sample = 0.01;
  double denied_sample = 1;
  std::size_t max_bytes = 100'000'000;
  std::size_t keep = 5;
};

enum class LogFormat : std::uint8_t { kText, kJson };

// What sluice.yaml says. Every field has a default, so that an empty file serves.
struct DaemonConfig {
  std::vector<ListenerConfig> listeners;  // Never empty once read.
  bool names_listeners = false;           // They are the file's own.
  std::optional<EnvoyConfig> envoy;       // None: there is no such service.
  TableConfig table;
  std::optional<RedisConfig> redis;  // None: the table is the store.
  bool names_store = false;          // The file says which store it is.
  // Of `redis`: another, for Envoy's limits per second.
  std::optional<RedisConfig> redis_seconds{};
  std::vector<std::string> rule_files;  // Globs, absolute or relative to where the daemon runs.
  std::string api_folder;               // "": see ApiFolder().
  std::optional<EtcdConfig> etcd{};
  rules::SourceText own_rules;           // This file, for its `rules` and `attributes`.
  std::size_t loops = 0;                 // 0: one per core.
  std::size_t connections = 10'000;      // Open at once, over all listeners.
  std::size_t connections_per_peer = 0;  // Of these from one address; 0: half of them.
  Duration drain_timeout = std::chrono::seconds(10);
  IdempotencyConfig idempotency;
  HotKeyConfig hot_keys;
  DecisionsConfig decisions;
  std::optional<DecisionLogConfig> decision_log{};
  std::optional<OtlpConfig> otlp{};  // None: nothing is exported.
  std::string log_level = "info";
  LogFormat log_format = LogFormat::kText;
  Duration denial_summary = std::chrono::minutes(1);  // 0: none.
  std::size_t log_requests = 0;                       // A second.
};

// Reads the text of a configuration file. `file` names it in places, and its folder is where
// relative globs begin. What is wrong goes to `findings`, all of it, with place and remedy;
// after an error the result is not to be used. What is
// wrong with `rules` and `attributes` shows when own_rules is built. Reads the files that
// `token_file`, `password_file` and `tls` name, Redis's too, to say here what is wrong with them.
[[nodiscard]] DaemonConfig ReadDaemonConfig(std::string_view text, const std::string& file,
                                            rules::Findings& findings);

// Whether `text` is a daemon's configuration rather than a file of rules: it has a field that
// only a configuration has, or is empty, which a file of rules must not be.
[[nodiscard]] bool LooksLikeDaemonConfig(std::string_view text);

}  // namespace sluice::app
