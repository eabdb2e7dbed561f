#include "daemon_config.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "config_fields.h"
#include "rules/value_reader.h"
#include "rules/yaml_tree.h"
#include "store/table.h"

namespace sluice::app {

namespace {

using rules::Reporter;
using rules::YamlNode;

constexpr std::array<std::string_view, 13> kTopFields{
    "listeners",  "store", "table",       "rule_sources",         "rules",
    "attributes", "loops", "connections", "connections_per_peer", "drain_timeout",
    "log",        "envoy", "idempotency"};
constexpr std::array<std::string_view, 3> kIdempotencyFields{"keep", "mebibytes", "caller"};
constexpr std::array<std::string_view, 6> kTableFields{
    "path", "keys", "blocks", "when_full", "snapshots", "snapshot_interval"};
constexpr std::array<std::string_view, 3> kSourceFields{"files", "api", "etcd"};
constexpr std::array<std::string_view, 1> kApiFields{"dir"};
constexpr std::array<std::string_view, 3> kEnvoyFields{"directory", "merge_domains", "semantics"};
constexpr std::array<std::string_view, 2> kLogFields{"level", "format"};

constexpr std::array<std::string_view, 3> kWhenFull{"evict", "allow", "deny"};
constexpr std::array<std::string_view, 6> kLevels{"trace", "debug", "info", "warn", "error", "off"};
constexpr std::array<std::string_view, 2> kSemantics{"compatible", "sluice"};
constexpr std::array<std::string_view, 2> kFormats{"text", "json"};

void ReadTable(const YamlNode& node, Reporter& report, TableConfig& table) {
  EachField(
      node, "table", kTableFields, report, [&](std::string_view field, const YamlNode& value) {
        if (field == "path") {
          table.path = rules::ReadText(value, field, report).value_or("");
        } else if (field == "when_full") {
          table.when_full =
              static_cast<WhenFull>(rules::ReadWord(value, field, kWhenFull, report).value_or(0));
        } else if (field == "snapshot_interval") {
          if (value.is_text() && value.text == "off") {
            table.snapshot_interval = Duration::zero();
          } else {
            table.snapshot_interval =
                rules::ReadDuration(value, field, report).value_or(table.snapshot_interval);
          }
        } else if (field == "snapshots") {
          table.snapshots = rules::ReadText(value, field, report).value_or("");
        } else {
          const bool keys = field == "keys";
          ReadCount(value, field, 1, keys ? store::kMostKeys : store::kMaxBlocks, report,
                    keys ? table.keys : table.blocks);
        }
      });
}

void ReadSources(const YamlNode& node, const std::filesystem::path& folder, Reporter& report,
                 DaemonConfig& config) {
  std::string& api_folder = config.api_folder;
  const auto read_api = [&](const YamlNode& api) {
    EachField(api, "api", kApiFields, report, [&](std::string_view, const YamlNode& dir) {
      const auto text = rules::ReadText(dir, "dir", report);
      if (text && (text->empty() || !api_folder.empty())) {
        report.Fail(dir, text->empty() ? "dir is empty: name a directory, or leave api out"
                                       : "the API can have only one directory: remove one of them");
      } else if (text) {
        api_folder = std::filesystem::absolute(folder / *text).lexically_normal().string();
      }
    });
  };
  EachItem(node, "rule_sources", report, [&](const YamlNode& item) {
    EachField(item, "a rule source", kSourceFields, report,
              [&](std::string_view field, const YamlNode& files) {
                if (field == "api") {
                  read_api(files);
                  return;
                }
                if (field == "etcd") {
                  if (config.etcd) {
                    report.Fail(files,
                                "rules can come from only one etcd cluster: remove one of them");
                  }
                  config.etcd = ReadEtcd(files, folder, report);
                  return;
                }
                EachItem(files, "files", report, [&](const YamlNode& glob) {
                  if (const auto text = rules::ReadText(glob, "files", report)) {
                    config.rule_files.push_back((folder / *text).string());
                  }
                });
              });
  });
}

EnvoyConfig ReadEnvoy(const YamlNode& node, const std::filesystem::path& folder, Reporter& report) {
  EnvoyConfig envoy;
  EachField(node, "envoy", kEnvoyFields, report,
            [&](std::string_view field, const YamlNode& value) {
              if (field == "directory") {
                if (const auto text = rules::ReadText(value, field, report)) {
                  envoy.directory = (folder / *text).lexically_normal().string();
                }
              } else if (field == "merge_domains") {
                envoy.reading.merge_domains = rules::ReadBool(value, field, report).value_or(false);
              } else {
                envoy.settings.compatible =
                    rules::ReadWord(value, field, kSemantics, report).value_or(0) == 0;
              }
            });
  if (envoy.directory.empty()) {
    report.Fail(
        node,
        "envoy needs the directory of its configuration files: write envoy: {directory: DIR}");
  }
  return envoy;
}

void ReadIdempotency(const YamlNode& node, Reporter& report, IdempotencyConfig& idempotency) {
  EachField(node, "idempotency", kIdempotencyFields, report,
            [&](std::string_view field, const YamlNode& value) {
              if (field == "mebibytes") {
                ReadCount(value, field, 0, 1'000'000, report, idempotency.mebibytes);
                return;
              }
              if (field == "caller") {
                const auto name = rules::ReadText(value, field, report);
                if (name && name->empty()) {
                  report.Fail(value, "caller is empty: name an attribute, or leave caller out");
                }
                idempotency.caller = name.value_or("");
                return;
              }
              const auto keep = rules::ReadDuration(value, field, report);
              if (keep && *keep <= Duration::zero()) {
                report.Fail(value,
                            "keep must be longer than 0: to keep nothing write mebibytes: 0");
              }
              idempotency.keep = keep.value_or(idempotency.keep);
            });
}

void ReadLog(const YamlNode& node, Reporter& report, DaemonConfig& config) {
  EachField(node, "log", kLogFields, report, [&](std::string_view field, const YamlNode& value) {
    if (field == "level") {
      if (const auto level = rules::ReadWord(value, field, kLevels, report)) {
        config.log_level = kLevels[*level];
      }
    } else if (const auto format = rules::ReadWord(value, field, kFormats, report)) {
      config.log_format = *format == 1 ? LogFormat::kJson : LogFormat::kText;
    }
  });
}

}  // namespace

DaemonConfig ReadDaemonConfig(std::string_view text, const std::string& file,
                              rules::Findings& findings) {
  DaemonConfig config;
  Reporter report(file, findings);
  const rules::YamlTree tree(text, file, findings.errors);
  const YamlNode& root = tree.root();
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  EachField(root, "the configuration", kTopFields, report,
            [&](std::string_view field, const YamlNode& value) {
              if (field == "listeners") {
                config.names_listeners = true;
                EachItem(value, field, report, [&](const YamlNode& item) {
                  config.listeners.push_back(ReadListener(item, folder, report));
                });
              } else if (field == "store") {
                config.names_store = true;
                config.redis = ReadStore(value, folder, report);
              } else if (field == "table") {
                ReadTable(value, report, config.table);
              } else if (field == "rule_sources") {
                ReadSources(value, folder, report, config);
              } else if (field == "envoy") {
                config.envoy = ReadEnvoy(value, folder, report);
              } else if (field == "loops") {
                ReadCount(value, field, 0, 1024, report, config.loops);
              } else if (field == "connections") {
                ReadCount(value, field, 1, 10'000'000, report, config.connections);
              } else if (field == "connections_per_peer") {
                ReadCount(value, field, 1, 10'000'000, report, config.connections_per_peer);
              } else if (field == "drain_timeout") {
                config.drain_timeout =
                    rules::ReadDuration(value, field, report).value_or(config.drain_timeout);
              } else if (field == "idempotency") {
                ReadIdempotency(value, report, config.idempotency);
              } else if (field == "log") {
                ReadLog(value, report, config);
              }  // `rules` and `attributes` are the rule set's to read.
            });
  if (config.listeners.empty()) {
    config.listeners = DefaultListeners();
  }
  config.own_rules = {.name = file, .text = std::string(text), .is_configuration = true};
  return config;
}

bool LooksLikeDaemonConfig(std::string_view text) {
  std::vector<Error> problems;
  const rules::YamlTree tree(text, "", problems);
  const YamlNode& root = tree.root();
  if (!root.is_map()) {
    return false;
  }
  for (std::size_t i = 0; i < root.pair_count(); ++i) {
    const std::string& field = root.key(i).text;
    if (field != "rules" && field != "attributes" &&
        std::find(kTopFields.begin(), kTopFields.end(), field) != kTopFields.end()) {
      return true;
    }
  }
  return false;
}

}  // namespace sluice::app
