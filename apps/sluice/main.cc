#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/display_text.h"
#include "command_line.h"
#include "exit_code.h"
#include "rules/spelling.h"
#include "version.h"

namespace sluice::app {
namespace {

// Whether `word` is a command; if not, says so, where the library would say only that an
// argument was not expected.
bool IsCommand(const CLI::App& app, std::string_view word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names.push_back(command->get_name());
  }
  if (std::ranges::find(names, word) != names.end()) {
    return true;
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string guess = rules::DidYouMean(word, known);
  std::fprintf(stderr, "sluice: there is no command %s%s\n", base::DisplayText(word).c_str(),
               guess.c_str());
  if (guess.empty()) {
    std::fprintf(stderr, "  the commands are %s\n", rules::OneOf(known).c_str());
  }
  std::fprintf(stderr, "  sluice --help describes them\n");
  return false;
}

int Main(int argc, char** argv) {
  CLI::App app{"Sluice, a rate limiter", "sluice"};
  app.set_version_flag("--version", std::string("sluice ") + kVersion);
  app.require_subcommand(1);
  app.fallthrough(false);
  int exit_code = kExitOk;
  AddServe(app, exit_code);
  AddCheck(app, exit_code);
  AddStatus(app, exit_code);
  AddValidate(app, exit_code);
  AddExplain(app, exit_code);
  AddKey(app, exit_code);
  AddReplay(app, exit_code);
  AddSuggest(app, exit_code);
  AddTable(app, exit_code);
  AddMode(app, exit_code);
  AddKillSwitch(app, exit_code);
  AddShadowReport(app, exit_code);
  AddReset(app, exit_code);
  AddRefund(app, exit_code);
  AddBans(app, exit_code);
  AddUnban(app, exit_code);
  AddEnvoy(app, exit_code);
  AddHealth(app, exit_code);
  if (argc > 1 && argv[1][0] != '-' && !IsCommand(app, argv[1])) {
    return kExitError;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitError;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sluice: %s\n", error.what());
    return kExitError;
  }
  return exit_code;
}

}  // namespace
}  // namespace sluice::app

int main(int argc, char** argv) {
  return sluice::app::Main(argc, argv);
}
