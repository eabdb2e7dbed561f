#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "command_line.h"
#include "exit_code.h"
#include "proxy_review.h"
#include "rule_files.h"

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

int Validate(const std::vector<std::string>& files) {
  rules::Findings findings;
  std::vector<ListenerConfig> listeners;
  const auto set = ReadRuleFiles(files, findings, &listeners);
  if (set != nullptr) {
    WarnOfUntoldAttributes(listeners, *set, findings);
  }
  Print(findings);
  if (set == nullptr) {
    return kExitNo;
  }
  const std::size_t rules = set->rules().size();
  std::printf("ok: %zu rule%s\n", rules, rules == 1 ? "" : "s");
  return kExitOk;
}

}  // namespace

void AddValidate(CLI::App& app, int& exit_code) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command =
      app.add_subcommand("validate", "Print every problem of rule files and configurations");
  command->footer("Exit codes: 0 no problem (warnings apart), 1 problems, 2 a wrong command line.");
  command->add_option("files", *files, "Rule files, read as one set, or a daemon's configuration")
      ->required();
  command->callback([files, &exit_code] { exit_code = Validate(*files); });
}

}  // namespace sluice::app
