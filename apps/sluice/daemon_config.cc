#include "daemon_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "config_fields.h"
#include "config_map.h"
#include "rules/value_reader.h"
#include "yaml/tree.h"

namespace sluice::app {

namespace {

using rules::Reporter;

// "off" is 0.
void ReadDurationOrOff(const yaml::Node& node, std::string_view field, Reporter& report,
                       Duration& duration) {
  duration = node.is_text() && node.text == "off"
                 ? Duration::zero()
                 : rules::ReadDuration(node, field, report).value_or(duration);
}

void ReadTable(const yaml::Node& node, Reporter& report, TableConfig& table) {
  const auto read_path = [&](const yaml::Node& value) {
    table.path = rules::ReadText(value, "path", report).value_or("");
  };
  const auto read_keys = [&](const yaml::Node& value) {
    ReadCount(value, kTableMap["keys"], report, table.keys);
  };
  const auto read_blocks = [&](const yaml::Node& value) {
    ReadCount(value, kTableMap["blocks"], report, table.blocks);
  };
  const auto read_when_full = [&](const yaml::Node& value) {
    ReadEnum(value, kTableMap["when_full"], report, table.when_full);
  };
  const auto read_snapshots = [&](const yaml::Node& value) {
    table.snapshots = rules::ReadText(value, "snapshots", report).value_or("");
  };
  const auto read_interval = [&](const yaml::Node& value) {
    ReadDurationOrOff(value, "snapshot_interval", report, table.snapshot_interval);
  };
  const auto fields = std::to_array<FieldReader>({{"path", read_path},
                                                  {"keys", read_keys},
                                                  {"blocks", read_blocks},
                                                  {"when_full", read_when_full},
                                                  {"snapshots", read_snapshots},
                                                  {"snapshot_interval", read_interval}});
  ReadFields(node, kTableMap, fields, report);
}

void ReadApiFolder(const yaml::Node& node, const std::filesystem::path& folder, Reporter& report,
                   std::string& api_folder) {
  const auto read_dir = [&](const yaml::Node& dir) {
    const auto text = rules::ReadText(dir, "dir", report);
    if (text && (text->empty() || !api_folder.empty())) {
      report.Fail(dir, text->empty() ? "dir is empty: name a directory, or leave api out"
                                     : "the API can have only one directory: remove one of them");
    } else if (text) {
      api_folder = std::filesystem::absolute(folder / *text).lexically_normal().string();
    }
  };
  ReadFields(node, kApiMap, std::to_array<FieldReader>({{"dir", read_dir}}), report);
}

void ReadSource(const yaml::Node& node, const std::filesystem::path& folder, Reporter& report,
                DaemonConfig& config) {
  const auto read_files = [&](const yaml::Node& files) {
    EachItem(files, "files", report, [&](const yaml::Node& glob) {
      if (const auto text = rules::ReadText(glob, "files", report)) {
        config.rule_files.push_back((folder / *text).string());
      }
    });
  };
  const auto read_api = [&](const yaml::Node& api) {
    ReadApiFolder(api, folder, report, config.api_folder);
  };
  const auto read_etcd = [&](const yaml::Node& etcd) {
    if (config.etcd) {
      report.Fail(etcd, "rules can come from only one etcd cluster: remove one of them");
    }
    config.etcd = ReadEtcd(etcd, folder, report);
  };
  const auto fields =
      std::to_array<FieldReader>({{"files", read_files}, {"api", read_api}, {"etcd", read_etcd}});
  if (node.is_text()) {
    report.Fail(node, "a rule source must be a map: write - files: [" + node.text + "]");
    return;
  }
  ReadFields(node, kRuleSourceMap, fields, report);
}

EnvoyConfig ReadEnvoy(const yaml::Node& node, const std::filesystem::path& folder,
                      Reporter& report) {
  EnvoyConfig envoy;
  const auto read_directory = [&](const yaml::Node& value) {
    if (const auto text = rules::ReadText(value, "directory", report)) {
      envoy.files.directory = (folder / *text).lexically_normal().string();
    }
  };
  const auto read_merge = [&](const yaml::Node& value) {
    envoy.files.reading.merge_domains =
        rules::ReadBool(value, "merge_domains", report).value_or(false);
  };
  const auto read_semantics = [&](const yaml::Node& value) {
    envoy.settings.compatible = ReadWord(value, kEnvoyMap["semantics"], report).value_or(0) == 0;
  };
  const auto fields = std::to_array<FieldReader>({{"directory", read_directory},
                                                  {"merge_domains", read_merge},
                                                  {"semantics", read_semantics}});
  ReadFields(node, kEnvoyMap, fields, report);
  if (envoy.files.directory.empty()) {
    report.Fail(
        node,
        "envoy needs the directory of its configuration files: write envoy: {directory: DIR}");
  }
  return envoy;
}

void ReadIdempotency(const yaml::Node& node, Reporter& report, IdempotencyConfig& idempotency) {
  const auto read_keep = [&](const yaml::Node& value) {
    const auto keep = rules::ReadDuration(value, "keep", report);
    if (keep && *keep <= Duration::zero()) {
      report.Fail(value, "keep must be longer than 0: to keep nothing write mebibytes: 0");
    }
    idempotency.keep = keep.value_or(idempotency.keep);
  };
  const auto read_mebibytes = [&](const yaml::Node& value) {
    ReadCount(value, kIdempotencyMap["mebibytes"], report, idempotency.mebibytes);
  };
  const auto read_caller = [&](const yaml::Node& value) {
    const auto name = rules::ReadText(value, "caller", report);
    if (name && name->empty()) {
      report.Fail(value, "caller is empty: name an attribute, or leave caller out");
    }
    idempotency.caller = name.value_or("");
  };
  const auto fields = std::to_array<FieldReader>(
      {{"keep", read_keep}, {"mebibytes", read_mebibytes}, {"caller", read_caller}});
  ReadFields(node, kIdempotencyMap, fields, report);
}

// "10%", from 1 to 100; 0 for "off".
std::optional<double> ShareOf(std::string_view text) {
  if (text == "off") {
    return 0;
  }
  int percent = 0;
  const char* const end = text.data() + text.size() - 1;
  if (!text.ends_with('%') || std::from_chars(text.data(), end, percent).ptr != end ||
      percent < 1 || percent > 100) {
    return std::nullopt;
  }
  return percent / 100.0;
}

void ReadInsight(const yaml::Node& node, Reporter& report, HotKeyConfig& hot_keys) {
  const auto read_share = [&](const yaml::Node& value) {
    const auto share = value.is_text() ? ShareOf(value.text) : std::nullopt;
    if (!share) {
      report.Fail(value, "hot_key_share must be 1% to 100%, or off");
    }
    hot_keys.share = share.value_or(hot_keys.share);
  };
  const auto read_requests = [&](const yaml::Node& value) {
    ReadCount(value, kInsightMap["hot_key_requests"], report, hot_keys.requests);
  };
  const auto fields = std::to_array<FieldReader>(
      {{"hot_key_share", read_share}, {"hot_key_requests", read_requests}});
  ReadFields(node, kInsightMap, fields, report);
}

// A number from 0 to 1, as in 0.01.
void ReadShare(const yaml::Node& node, std::string_view field, Reporter& report, double& share) {
  double read = -1;
  const char* const end = node.text.data() + node.text.size();
  const auto [stop, error] = std::from_chars(node.text.data(), end, read);
  if (!node.is_text() || error != std::errc() || stop != end || !(read >= 0 && read <= 1)) {
    report.Fail(node, std::string(field) + " must be a number from 0 to 1: 0.01 is one of 100");
    return;
  }
  share = read;
}

DecisionLogConfig ReadDecisionLog(const yaml::Node& node, const std::filesystem::path& folder,
                                  Reporter& report) {
  DecisionLogConfig log;
  const auto read_path = [&](const yaml::Node& value) {
    if (const auto text = rules::ReadText(value, "path", report); text && !text->empty()) {
      log.path = (folder / *text).lexically_normal().string();
    }
  };
  const auto read_sample = [&](const yaml::Node& value) {
    ReadShare(value, "sample", report, log.sample);
  };
  const auto read_denied_sample = [&](const yaml::Node& value) {
    ReadShare(value, "denied_sample", report, log.denied_sample);
  };
  const auto read_max_bytes = [&](const yaml::Node& value) {
    ReadCount(value, kDecisionLogMap["max_bytes"], report, log.max_bytes);
  };
  const auto read_keep = [&](const yaml::Node& value) {
    ReadCount(value, kDecisionLogMap["keep"], report, log.keep);
  };
  const auto fields = std::to_array<FieldReader>({{"path", read_path},
                                                  {"sample", read_sample},
                                                  {"denied_sample", read_denied_sample},
                                                  {"max_bytes", read_max_bytes},
                                                  {"keep", read_keep}});
  ReadFields(node, kDecisionLogMap, fields, report);
  if (log.path.empty()) {
    report.Fail(node, "decision_log needs a file: write decision_log: {path: FILE}");
  }
  return log;
}

void ReadDecisions(const yaml::Node& node, Reporter& report, DecisionsConfig& decisions) {
  const auto read_mebibytes = [&](const yaml::Node& value) {
    ReadCount(value, kDecisionsMap["mebibytes"], report, decisions.mebibytes);
  };
  ReadFields(node, kDecisionsMap, std::to_array<FieldReader>({{"mebibytes", read_mebibytes}}),
             report);
}

void ReadLog(const yaml::Node& node, Reporter& report, DaemonConfig& config) {
  const auto read_level = [&](const yaml::Node& value) {
    const ConfigField& field = kLogMap["level"];
    if (const auto level = ReadWord(value, field, report)) {
      config.log_level = field.words[*level];
    }
  };
  const auto read_format = [&](const yaml::Node& value) {
    ReadEnum(value, kLogMap["format"], report, config.log_format);
  };
  const auto read_requests = [&](const yaml::Node& value) {
    ReadCount(value, kLogMap["requests"], report, config.log_requests);
  };
  const auto read_summary = [&](const yaml::Node& value) {
    ReadDurationOrOff(value, "denial_summary", report, config.denial_summary);
  };
  const auto fields = std::to_array<FieldReader>({{"level", read_level},
                                                  {"format", read_format},
                                                  {"denial_summary", read_summary},
                                                  {"requests", read_requests}});
  ReadFields(node, kLogMap, fields, report);
}

// The fields of a configuration, which read into `config`. All outlive the table.
std::vector<FieldReader> TopFields(const std::filesystem::path& folder, Reporter& report,
                                   DaemonConfig& config) {
  const auto count = [&](std::string_view field, std::size_t& into) {
    return FieldReader{field, [&report, field, &into](const yaml::Node& value) {
                         ReadCount(value, kConfiguration[field], report, into);
                       }};
  };
  const auto of_the_rules = [](const yaml::Node&) {};  // The rule set reads them.
  return {
      {"listeners",
       [&](const yaml::Node& value) {
         config.names_listeners = true;
         EachItem(value, "listeners", report, [&](const yaml::Node& item) {
           config.listeners.push_back(ReadListener(item, folder, report));
         });
       }},
      {"store",
       [&](const yaml::Node& value) {
         config.names_store = true;
         config.redis = ReadStore(value, folder, report);
       }},
      {"table", [&](const yaml::Node& value) { ReadTable(value, report, config.table); }},
      {"rule_sources",
       [&](const yaml::Node& value) {
         EachItem(value, "rule_sources", report,
                  [&](const yaml::Node& item) { ReadSource(item, folder, report, config); });
       }},
      {"rules", of_the_rules},
      {"attributes", of_the_rules},
      count("loops", config.loops),
      count("connections", config.connections),
      count("connections_per_peer", config.connections_per_peer),
      {"drain_timeout",
       [&](const yaml::Node& value) {
         config.drain_timeout =
             rules::ReadDuration(value, "drain_timeout", report).value_or(config.drain_timeout);
       }},
      {"log", [&](const yaml::Node& value) { ReadLog(value, report, config); }},
      {"decisions",
       [&](const yaml::Node& value) { ReadDecisions(value, report, config.decisions); }},
      {"decision_log",
       [&](const yaml::Node& value) {
         config.decision_log = ReadDecisionLog(value, folder, report);
       }},
      {"envoy", [&](const yaml::Node& value) { config.envoy = ReadEnvoy(value, folder, report); }},
      {"idempotency",
       [&](const yaml::Node& value) { ReadIdempotency(value, report, config.idempotency); }},
      {"insight", [&](const yaml::Node& value) { ReadInsight(value, report, config.hot_keys); }},
      {"otlp", [&](const yaml::Node& value) { config.otlp = ReadOtlp(value, folder, report); }},
  };
}

}  // namespace

DaemonConfig ReadDaemonConfig(std::string_view text, const std::string& file,
                              rules::Findings& findings) {
  DaemonConfig config;
  Reporter report(file, findings);
  const yaml::Tree tree(text, file, findings.errors);
  const yaml::Node& root = tree.root();
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  ReadFields(root, kConfiguration, TopFields(folder, report, config), report);
  if (config.listeners.empty()) {
    config.listeners = DefaultListeners();
  }
  config.own_rules = {.name = file, .text = std::string(text), .is_configuration = true};
  return config;
}

bool LooksLikeDaemonConfig(std::string_view text) {
  std::vector<Error> problems;
  const yaml::Tree tree(text, "", problems);
  const yaml::Node& root = tree.root();
  if (!root.is_map()) {
    return root.is_null() && problems.empty();
  }
  for (std::size_t i = 0; i < root.pair_count(); ++i) {
    const std::string& field = root.key(i).text;
    if (field != "rules" && field != "attributes" &&
        std::ranges::find(kConfiguration.fields, field, &ConfigField::name) !=
            kConfiguration.fields.end()) {
      return true;
    }
  }
  return false;
}

}  // namespace sluice::app
