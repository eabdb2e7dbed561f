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

namespace sluice::app {

namespace {

namespace json = boost::json;

// Values out of an answer of ours; what is missing reads as 0 or "".
std::int64_t Number(const json::object& of, const char* member) {
  const json::value* value = of.if_contains(member);
  return value != nullptr && value->is_int64() ? value->as_int64() : 0;
}

std::string MemberText(const json::object& of, const char* member) {
  const json::value* value = of.if_contains(member);
  return value != nullptr && value->is_string() ? base::DisplayText(value->as_string()) : "";
}

const json::array& List(const json::object& of, const char* member) {
  static const json::array none;
  const json::value* value = of.if_contains(member);
  return value != nullptr && value->is_array() ? value->as_array() : none;
}

std::string Tell(const json::object& report) {
  std::string text;
  for (const json::value& item : List(report, "rules")) {
    const json::object* const rule = item.if_object();
    if (rule == nullptr) {
      continue;
    }
    const std::int64_t denied = Number(*rule, "would_deny");
    const std::int64_t newly = Number(*rule, "newly_denied");
    const std::string mode = MemberText(*rule, "mode");
    text += fmt::format(
        "{} ({}): would have denied {} of {} requests: {} that passed, {} that other rules "
        "denied\n",
        MemberText(*rule, "rule_id"), mode == "shadow" ? mode : "now " + mode + "; while in shadow",
        denied, denied + Number(*rule, "would_allow"), newly, denied - newly);
    if (!List(*rule, "keys").empty()) {
      text += fmt::format("  {:>10}  {:>10}\n", "passed", "in all");
    }
    for (const json::value& key : List(*rule, "keys")) {
      if (const json::object* const entry = key.if_object()) {
        text += fmt::format("  {:>10}  {:>10}  {}\n", Number(*entry, "newly_denied"),
                            Number(*entry, "would_deny"), MemberText(*entry, "key"));
      }
    }
  }
  if (text.empty()) {
    return "no rule is in shadow mode (set one with: sluice mode RULE shadow)\n";
  }
  const std::time_t since = Number(report, "since");
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
  std::printf("%s", Tell(parsed.as_object()).c_str());
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
