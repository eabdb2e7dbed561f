#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "ask_daemon.h"
#include "command.h"
#include "command_line.h"
#include "live_top.h"
#include "top_view.h"

// sluice top.
namespace sluice::app {

namespace {

constexpr std::size_t kOnceColumns = 1'000;  // A pipe cuts nothing that a person would read.

std::string TellTop(const std::string& body) {
  const auto answer = ReadTopAnswer(body);
  if (!answer) {
    return body + "\n";
  }
  std::string text = HeadingOf(*answer, kOnceColumns) + "\n";
  if (answer->rows.empty()) {
    return text + "nothing was decided\n";
  }
  text += "\n" + ColumnTitles(kOnceColumns) + "\n";
  for (const TopRow& row : answer->rows) {
    text += LineOf(row, *answer, kOnceColumns) + "\n";
  }
  return text;
}

int Top(const TopOptions& options) {
  if (options.once || options.admin.json || !Terminal::IsThere()) {
    return AskAdmin(options.admin, TopCall(options), TellTop);
  }
  auto url = net::ParseHttpUrl(options.admin.server);
  std::string ignored;
  if (!url || AskAdmin(options.admin.server, TopCall(options), ignored) != kExitOk) {
    if (!url) {
      std::fprintf(stderr, "sluice: %s\n", url.error().Text().c_str());
    }
    return kExitError;
  }
  LiveTop(options, *std::move(url)).Run();
  return kExitOk;
}

}  // namespace

void AddTop(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TopOptions>();
  Command& command = AddCommand(
      app, "top", "Show which keys are decided most, by rule",
      {.notes = "Shows the keys with the most decisions of one node, and how many of them were "
                "allowed, denied or banned. On a terminal the picture is live: ? lists its keys. "
                "Elsewhere, and with --once, one picture is printed.\n\nCounts are exact while few "
                "requests come, and estimates under load; --json has their bounds.",
       .examples = {
           {"Who is hammering now", "sluice top"},
           {"Whom does the rule login deny", "sluice top --once --rule login --kind denied"}}});
  command.add_option("--rule", options->rule, "Only the keys of this rule");
  command.add_option("--kind", options->kind, "Order by these decisions")
      ->check(CLI::IsMember({"all", "allowed", "denied", "banned", "shadow"}))
      ->capture_default_str();
  command
      .add_option("--window", options->window,
                  "The last minute (30 to 60 seconds), or since the daemon's start")
      ->check(CLI::IsMember({"minute", "start"}))
      ->capture_default_str();
  command.add_option("-n,--keys", options->keys, "How many keys of each rule")
      ->check(CLI::Range(std::size_t{1}, std::size_t{128}))
      ->capture_default_str();
  command.add_flag("--once", options->once, "Print one picture and end");
  AddAdminOptions(command, options->admin);
  command.callback([options, &exit_code] { exit_code = Top(*options); });
}

}  // namespace sluice::app
