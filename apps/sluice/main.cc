#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/display_text.h"
#include "command.h"
#include "command_line.h"
#include "rules/spelling.h"
#include "version.h"

namespace sluice::app {
namespace {

std::vector<std::string_view> Views(const std::vector<std::string>& words) {
  return {words.begin(), words.end()};
}

std::string UnknownCommand(const CLI::App& app, std::string_view word) {
  std::vector<std::string> names;
  for (const Command* command : CommandsOf(app)) {
    names.push_back(command->get_name());
  }
  const std::string guess = rules::DidYouMean(word, Views(names));
  return FullName(app) + " has no command " + base::DisplayText(word) + guess +
         (guess.empty() ? "\n  the commands are " + rules::OneOf(Views(names)) : "") + "\n  " +
         FullName(app) + " --help describes them";
}

std::string UnknownOption(const CLI::App& app, std::string_view word) {
  std::vector<std::string> names;
  for (const OptionFacts& facts : FactsOf(app)) {
    names.insert(names.end(), facts.names.begin(), facts.names.end());
  }
  return FullName(app) + " has no option " + base::DisplayText(word) +
         rules::DidYouMean(word, Views(names)) + "\n  " + FullName(app) +
         " --help lists the options";
}

// The message for the first unknown command or option in `words` (argv without the program), with a
// suggestion; "" if all are known. Values are not checked.
std::string FindUnknownWord(const CLI::App& app, std::span<char* const> words) {
  const CLI::App* at = &app;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--") {
      break;
    }
    if (word.starts_with("-") && word.size() > 1) {
      const std::string_view name = word.substr(0, word.find('='));
      const auto options = FactsOf(*at);
      const auto found = std::ranges::find_if(options, [name](const OptionFacts& facts) {
        return std::ranges::find(facts.names, name) != facts.names.end();
      });
      if (found == options.end()) {
        // CLI11 splits -ab and -n5; all options here are long, except -h.
        return word.starts_with("--") ? UnknownOption(*at, name) : "";
      }
      i += !found->is_flag() && name.size() == word.size() ? 1 : 0;
    } else if (const auto below = CommandsOf(*at); !below.empty()) {
      const auto found = std::ranges::find(below, word, &CLI::App::get_name);
      if (found == below.end()) {
        return UnknownCommand(*at, word);
      }
      at = *found;
    }
  }
  return "";
}

int Main(int argc, char** argv) {
  Command app(
      "sluice", "Sluice, a rate limiter",
      {.notes = "sluice COMMAND --help describes a command. Commands that ask a daemon take "
                "--server.",
       .exit_codes = "0 done or allowed, 1 denied or not valid, 2 error",
       .variables = {{"SLUICE_SERVER",
                      "The default of --server for check, status, release "
                      "and health: the URL of a daemon's HTTP listener"},
                     {"SLUICE_ADMIN",
                      "The default of --server for the operators' commands: "
                      "the URL of a daemon's admin listener"}},
       .examples = {{"Start: write a configuration, and check it",
                     "sluice init demo && sluice validate demo/sluice.yaml"},
                    {"Ask a running daemon", "sluice check user_id=u_42"}}});
  app.set_version_flag("--version", std::string("sluice ") + kVersion);
  app.require_subcommand(1);
  app.fallthrough(false);
  int exit_code = kExitOk;
  AddInit(app, exit_code);
  AddServe(app, exit_code);
  AddCheck(app, exit_code);
  AddStatus(app, exit_code);
  AddWhy(app, exit_code);
  AddRelease(app, exit_code);
  AddValidate(app, exit_code);
  AddDoctor(app, exit_code);
  AddExplain(app, exit_code);
  AddKey(app, exit_code);
  AddReplay(app, exit_code);
  AddSuggest(app, exit_code);
  AddTable(app, exit_code);
  AddMode(app, exit_code);
  AddKillSwitch(app, exit_code);
  AddTop(app, exit_code);
  AddShadowReport(app, exit_code);
  AddDecisions(app, exit_code);
  AddTrace(app, exit_code);
  AddReset(app, exit_code);
  AddRefund(app, exit_code);
  AddBans(app, exit_code);
  AddUnban(app, exit_code);
  AddEnvoy(app, exit_code);
  AddHealth(app, exit_code);
  AddCompletion(app, exit_code);
  AddManual(app, exit_code);
  const std::span<char* const> words(argv, static_cast<std::size_t>(argc));
  if (const std::string wrong = FindUnknownWord(app, words.subspan(argc > 0 ? 1 : 0));
      !wrong.empty()) {
    std::fprintf(stderr, "sluice: %s\n", wrong.c_str());
    return kExitError;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream wrong;
    const int code = app.exit(error, std::cout, wrong);
    std::fputs(base::DisplayText(wrong.str(), base::LineFeeds::kKept).c_str(), stderr);
    return code == 0 ? kExitOk : kExitError;
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
