#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

#include <boost/json.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "ask_daemon.h"
#include "base/display_text.h"
#include "command.h"
#include "command_line.h"
#include "json_answer.h"

namespace sluice::app {

namespace {

namespace json = boost::json;

std::string Tell(const JsonAnswer& report) {
  std::string text;
  for (const json::value& item : report.List("rules")) {
    const JsonAnswer rule(item);
    const std::int64_t denied = rule.Number("would_deny");
    const std::int64_t newly = rule.Number("newly_denied");
    const std::string mode = rule.Text("mode");
    text += fmt::format(
        "{} ({}): would have denied {} of {} requests: {} that passed, {} that other rules "
        "denied\n",
        rule.Text("rule_id"), mode == "shadow" ? mode : "now " + mode + "; while in shadow", denied,
        denied + rule.Number("would_allow"), newly, denied - newly);
    if (!rule.List("keys").empty()) {
      text += fmt::format("  {:>10}  {:>10}\n", "passed", "in all");
    }
    for (const json::value& key : rule.List("keys")) {
      const JsonAnswer entry(key);
      text += fmt::format("  {:>10}  {:>10}  {}\n", entry.Number("newly_denied"),
                          entry.Number("would_deny"), entry.Text("key"));
    }
  }
  if (text.empty()) {
    return "no rule is in shadow mode (set one with: sluice mode RULE shadow)\n";
  }
  const std::time_t since = report.Number("since");
  return fmt::format("this node, since {:%Y-%m-%d %H:%M:%S} UTC\n\n", fmt::gmtime(since)) + text;
}

int Report(const AdminOptions& options) {
  const net::HttpCall call{.target = "/v1/ratelimit/shadow-report"};
  if (options.json) {
    return AskAdmin(options, call, nullptr);
  }
  std::string body;
  if (const int exit_code = AskAdmin(options.server, call, body); exit_code != kExitOk) {
    return exit_code;
  }
  json::error_code error;
  const json::value parsed = json::parse(body, error);
  if (error || !parsed.is_object()) {
    std::fprintf(stderr, "sluice: unexpected answer from the server: %s\n",
                 base::DisplayText(body, base::LineFeeds::kKept).c_str());
    return kExitError;
  }
  std::printf("%s", Tell(JsonAnswer(parsed)).c_str());
  return kExitOk;
}

}  // namespace

void AddShadowReport(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<AdminOptions>();
  Command& command = AddCommand(
      app, "shadow-report", "List what rules in shadow mode would have denied, and to whom",
      {.examples = {
           {"The clients that rules in shadow mode would have denied", "sluice shadow-report"}}});
  AddAdminOptions(command, *options);
  command.callback([options, &exit_code] { exit_code = Report(*options); });
}

}  // namespace sluice::app
