#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/display_text.h"
#include "command.h"
#include "command_line.h"
#include "control/envoy_config_loader.h"
#include "daemon_config.h"
#include "doctor/rule_checks.h"
#include "envoy/configuration.h"
#include "envoy_environment.h"
#include "rule_files.h"
#include "rule_review.h"

namespace sluice::app {

namespace {

void Print(const rules::Findings& findings) {
  for (const Error& error : findings.errors) {
    std::printf("%s\n", error.Text().c_str());
  }
  for (const Error& warning : findings.warnings) {
    std::printf("%s (warning)\n", warning.Text().c_str());
  }
}

// In envoyproxy/ratelimit's words, with its position.
void PrintEnvoyError(const Error& error) {
  std::printf("%s: %s\n", error.place.file.c_str(),
              base::DisplayText(error.message, base::LineFeeds::kKept).c_str());
  if (error.place.line > 0) {
    std::printf("  at line %d, column %d\n", error.place.line, error.place.column);
  }
}

// "4 limits in 1 domain": the content of the directory of Envoy's limits. Prints problems; nullopt
// after errors.
std::optional<std::string> ReviewEnvoy(const control::EnvoyFiles& files) {
  const auto tree = control::ReadEnvoyTree(files);
  if (!tree) {
    PrintEnvoyError(tree.error());
    return std::nullopt;
  }
  for (const Error& skipped : tree->skipped) {
    std::printf("%s (warning)\n", skipped.Text().c_str());
  }
  rules::Findings findings;
  const auto configuration = envoy::Configuration::Read(tree->files, files.reading, findings);
  for (const Error& error : findings.errors) {
    PrintEnvoyError(error);
  }
  if (configuration == nullptr) {
    return std::nullopt;
  }
  const std::size_t limits = configuration->limits().size();
  const std::size_t domains = configuration->domain_count();
  return fmt::format("{} limit{} in {} domain{}", limits, limits == 1 ? "" : "s", domains,
                     domains == 1 ? "" : "s");
}

// Notes are for `sluice doctor`: they are right if they are meant.
void AddRuleChecks(const rules::RuleSet& set, rules::Findings& findings) {
  for (const doctor::Finding& finding : doctor::CheckRules(set)) {
    if (finding.severity != doctor::Severity::kNote) {
      findings.warnings.push_back(doctor::ErrorOf(finding));
    }
  }
}

int Validate(const std::vector<std::string>& files) {
  rules::Findings findings;
  BesidesRules besides;
  const auto set = ReadRuleFiles(files, findings, &besides);
  if (set != nullptr) {
    ReviewForProxies(besides.listeners, *set, findings);
    HintAtRules(besides.listeners, *set, findings);
    AddRuleChecks(*set, findings);
  }
  Print(findings);
  const auto limits = besides.envoy ? ReviewEnvoy(besides.envoy->files) : std::string();
  if (!findings.errors.empty() || !limits) {
    return kExitNo;
  }
  const std::size_t rules = set->rules().size();
  std::printf("ok: %zu rule%s%s%s\n", rules, rules == 1 ? "" : "s",
              limits->empty() ? "" : "; Envoy: ", limits->c_str());
  return kExitOk;
}

// The configuration of `sluice serve --envoy`, with the command line's changes.
std::optional<EnvoyConfig> ReadEnvoyConfig(const std::string& directory, bool merge_domains) {
  rules::Findings findings;
  DaemonConfig config;
  ApplyEnvoyEnvironment(ProcessEnvironment(), /*keep_listeners=*/false, config, findings);
  Print(findings);
  if (!findings.errors.empty()) {
    return std::nullopt;
  }
  if (!directory.empty()) {
    config.envoy->files.directory = directory;
    config.envoy->files.prefix.clear();
  }
  config.envoy->files.reading.merge_domains =
      config.envoy->files.reading.merge_domains || merge_domains;
  return config.envoy;
}

int ValidateEnvoy(const std::string& directory, bool merge_domains) {
  const auto config = ReadEnvoyConfig(directory, merge_domains);
  const auto limits = config ? ReviewEnvoy(config->files) : std::nullopt;
  if (!limits) {
    return kExitNo;
  }
  std::printf("ok: %s\n", limits->c_str());
  return kExitOk;
}

}  // namespace

void AddValidate(CLI::App& app, int& exit_code) {
  auto files = std::make_shared<std::vector<std::string>>();
  Command& command = AddCommand(
      app, "validate", "Check rule files and configurations, and print every problem",
      {.exit_codes = "0 no errors (warnings are possible), 1 errors, 2 a wrong command line",
       .examples = {
           {"Check a daemon's configuration and the rules in it", "sluice validate sluice.yaml"},
           {"Check rule files together", "sluice validate rules.yaml more-rules.yaml"}}});
  auto* const names =
      command
          .add_option("files", *files,
                      "Rule files, read together as one set, or a daemon's configuration")
          ->type_name("FILE");
  auto directory = std::make_shared<std::string>();
  auto merge_domains = std::make_shared<bool>(false);
  auto* const envoy = command
                          .add_option("--envoy", *directory,
                                      "The configuration directory of envoyproxy/ratelimit, "
                                      "instead of files. Without DIR, the environment names it, as "
                                      "for serve --envoy; the other variables apply in both cases")
                          ->type_name("DIR")
                          ->expected(0, 1);
  envoy->excludes(names);
  command
      .add_flag("--merge-domains", *merge_domains,
                "With --envoy: several files may define the same domain, as with "
                "MERGE_DOMAIN_CONFIG=true")
      ->needs(envoy);
  command.callback([files, directory, merge_domains, envoy, &exit_code] {
    if (envoy->count() != 0) {
      exit_code = ValidateEnvoy(*directory, *merge_domains);
    } else if (files->empty()) {
      std::fprintf(stderr, "sluice: name files, or --envoy DIR\n");
      exit_code = kExitError;
    } else {
      exit_code = Validate(*files);
    }
  });
}

}  // namespace sluice::app
