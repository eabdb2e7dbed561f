#include "rule_files.h"

#include <unordered_set>
#include <utility>

#include "daemon_config.h"
#include "files.h"

namespace sluice::app {

namespace {

// A configuration is read twice, by the daemon and by the rules: both see what is no YAML.
void DropRepeated(std::vector<Error>& errors) {
  std::unordered_set<std::string> seen;
  std::erase_if(errors, [&](const Error& error) { return !seen.insert(error.Text()).second; });
}

}  // namespace

std::shared_ptr<const rules::RuleSet> ReadRuleFiles(const std::vector<std::string>& files,
                                                    rules::Findings& findings) {
  std::vector<rules::SourceText> sources;
  for (const std::string& file : files) {
    auto text = ReadFile(file);
    if (!text) {
      findings.errors.push_back(text.error());
    } else if (LooksLikeDaemonConfig(*text)) {
      sources.push_back(ReadDaemonConfig(*text, file, findings).own_rules);
    } else {
      sources.push_back({.name = file, .text = *std::move(text)});
    }
  }
  auto set = rules::RuleSet::Build(sources, nullptr, findings);
  DropRepeated(findings.errors);
  return findings.errors.empty() ? set : nullptr;
}

}  // namespace sluice::app
