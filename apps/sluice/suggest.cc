#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "command.h"
#include "command_line.h"
#include "log_options.h"
#include "logs/log_merge.h"
#include "read_logs.h"
#include "replay/replay_report.h"
#include "replay/suggestion.h"

namespace sluice::app {

namespace {

struct SuggestOptions {
  std::string key = "ip";
  std::vector<std::string> windows{"1m"};
  std::size_t top = 10;
  bool json = false;
  LogArguments logs;
};

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (comma != 0) {
      words.emplace_back(text.substr(0, comma));
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return words;
}

int Suggest(const SuggestOptions& options) {
  std::vector<Duration> windows;
  for (const std::string& word : options.windows) {
    const auto window = DurationOf(word);
    if (!window || *window == Duration{}) {
      return RefuseLogs("--window " + word + ": write a duration, such as 250ms, 10s, 1m, 1h, 1d");
    }
    windows.push_back(*window);
  }
  const std::vector<std::string> key = Words(options.key);
  const auto log_options = LogOptionsOf(options.logs);
  const auto plan = AttributePlanOf(options.logs, key);
  if (!log_options || !plan) {
    return kExitError;
  }
  const WallInstant today = base::SystemClock().Read().wall_clock;
  std::vector<replay::Suggestion> suggestions;
  replay::ReplayReport report;
  const auto done = ReadInOrder(options.logs, *log_options, *plan, /*final=*/false,
                                [&](logs::LogMerge& logs) -> Result<void> {
                                  auto reader = replay::SuggestionReader::Create(
                                      *plan, key, windows, !options.logs.no_spread);
                                  if (!reader) {
                                    return tl::unexpected(reader.error());
                                  }
                                  ProgressBar progress(logs);
                                  reader->Run(logs, [&progress] { progress.Show(); });
                                  suggestions = reader->Suggestions(options.top);
                                  report = reader->Logs(logs, today);
                                  return {};
                                });
  if (!done) {
    return RefuseLogs(done.error().Text());
  }
  std::string text;
  if (options.json) {
    text = replay::SuggestionsJson(suggestions, key, report);
  } else {
    text = replay::LogsText(report, OutputColumns());
    for (const replay::Suggestion& suggestion : suggestions) {
      text += replay::SuggestionText(suggestion, key, options.logs.cost, OutputColumns());
    }
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return RefuseLogs("the suggestions could not be written");
  }
  return kExitOk;
}

}  // namespace

void AddSuggest(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<SuggestOptions>();
  Command& command = AddCommand(
      app, "suggest",
      "Suggest limits from a log: those that would have denied 1 in 100, 1,000 and 10,000 clients",
      {.notes =
           "Reads the same logs as replay. Prints, for each window, the limits, how many clients "
           "each would have denied, and a rule to paste, in shadow mode. The limits hold for that "
           "rule.",
       .examples = {{"Limits for each address, by the minute and by the hour",
                     "sluice suggest --key ip --window 1m --window 1h access.log"}}});
  command.add_option("--key", options->key, "Attributes that distinguish clients")
      ->type_name("A,B")
      ->capture_default_str();
  command.add_option("--window", options->windows, "Length of a window (may be repeated)")
      ->allow_extra_args(false)
      ->default_str("1m");
  command.add_option("--top", options->top, "Number of keys to list")->capture_default_str();
  command.add_flag("--json", options->json, "Print the suggestions as JSON");
  AddLogArguments(command, options->logs, {});
  command.callback([options, &exit_code] { exit_code = Suggest(*options); });
}

}  // namespace sluice::app
