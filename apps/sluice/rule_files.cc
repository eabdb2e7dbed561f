#include "rule_files.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "daemon_config.h"
#include "daemon_files.h"
#include "etcd_config.h"
#include "rule_review.h"
#include "sources/file_sets.h"
#include "sources/files.h"
#include "yaml/tree.h"

namespace sluice::app {

namespace {

// A configuration is read twice, by the daemon and by the rules, and both report invalid YAML.
void DropRepeated(std::vector<Error>& errors) {
  std::unordered_set<std::string> seen;
  std::erase_if(errors, [&](const Error& error) { return !seen.insert(error.Text()).second; });
}

}  // namespace

std::shared_ptr<const rules::RuleSet> ReadRuleFiles(const std::vector<std::string>& files,
                                                    rules::Findings& findings,
                                                    BesidesRules* besides) {
  std::vector<rules::SourceText> sources;
  std::set<std::filesystem::path> seen;
  const auto add = [&](rules::SourceText source) {
    std::error_code error;
    if (seen.insert(std::filesystem::weakly_canonical(source.name, error)).second) {
      sources.push_back(std::move(source));
    }
  };
  for (const std::string& file : files) {
    auto text = sources::ReadFile(file);
    if (!text) {
      findings.errors.push_back(text.error());
    } else if (LooksLikeDaemonConfig(*text)) {
      const bool is_empty = yaml::Tree(*text, file, findings.errors).root().is_null();
      if (is_empty && findings.errors.empty()) {
        findings.warnings.push_back(
            {.message = "the file is empty: as a configuration it means the default listeners and "
                        "no limits; a file of rules says rules: []",
             .place = {.file = file}});
      }
      DaemonConfig config = ReadDaemonConfig(*text, file, findings);
      add(std::move(config.own_rules));
      if (besides != nullptr) {
        besides->listeners.insert(besides->listeners.end(), config.listeners.begin(),
                                  config.listeners.end());
        if (config.envoy) {
          besides->envoy = std::move(config.envoy);
        }
      }
      for (Error& warning : sources::WarnOfEmptyGlobs(config.rule_files)) {
        findings.warnings.push_back(std::move(warning));
      }
      if (auto found = sources::ReadGlobs(config.rule_files); !found) {
        findings.errors.push_back(std::move(found.error()));
      } else {
        std::for_each(found->begin(), found->end(), add);
      }
    } else {
      add({.name = file, .text = *std::move(text)});
    }
  }
  auto set = rules::RuleSet::Build(sources, nullptr, findings);
  DropRepeated(findings.errors);
  return findings.errors.empty() ? set : nullptr;
}

Result<control::RuleSources> RuleSourcesOf(const DaemonConfig& config) {
  control::RuleSources sources{
      .own = config.own_rules,
      .files = config.rule_files,
      .folder = ApiFolder(config),
      .check = [](std::string_view text, const std::string& path,
                  rules::Findings& findings) { (void)ReadDaemonConfig(text, path, findings); },
      .review =
          [&config](const rules::RuleSet& set, rules::Findings& findings) {
            ReviewForProxies(config.listeners, set, findings);
          },
  };
  if (config.etcd) {
    auto etcd = SettingsOf(*config.etcd);
    if (!etcd) {
      return tl::unexpected(etcd.error());
    }
    sources.etcd = *std::move(etcd);
  }
  return sources;
}

}  // namespace sluice::app
