#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "command.h"
#include "command_line.h"
#include "log_options.h"
#include "logs/log_merge.h"
#include "read_logs.h"
#include "replay/events.h"
#include "replay/log_replay.h"
#include "replay/replay_report.h"
#include "rule_files.h"
#include "version.h"

namespace sluice::app {

namespace {

struct ReplayOptions {
  std::vector<std::string> rules;
  LogArguments logs;
  std::uint64_t keys = 0;  // 0: the default for the format.
  std::size_t top = 10;
  bool decisions = false;
  bool compare = false;
  bool json = false;
  std::string html;
};

int ReplayEvents(const ReplayOptions& options) {
  std::ios::sync_with_stdio(false);
  if (options.rules.size() != 1 || options.logs.logs.size() != 1) {
    return RefuseLogs("events are read from one file and run through one rule file");
  }
  const std::string& path = options.logs.logs.front();
  replay::EventsOptions run{.rules_file = options.rules.front()};
  run.keys = options.keys == 0 ? run.keys : options.keys;
  if (path == "-") {
    return replay::RunEvents(run, std::cin, std::cout, std::cerr);
  }
  std::ifstream events(path);
  if (!events) {
    return RefuseLogs(path + ": cannot be read");
  }
  return replay::RunEvents(run, events, std::cout, std::cerr);
}

// "rules.yaml, more.yaml".
std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

bool Print(std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  text.clear();
  return written;
}

int ReplayLogs(const ReplayOptions& options) {
  rules::Findings findings;
  BesidesRules besides;
  const auto rules = ReadRuleFiles(options.rules, findings, &besides);
  for (const Error& error : findings.errors) {
    std::fprintf(stderr, "%s\n", error.Text().c_str());
  }
  for (const Error& warning : findings.warnings) {
    std::fprintf(stderr, "warning: %s\n", warning.Text().c_str());
  }
  if (rules == nullptr) {
    return kExitNo;
  }
  const bool page = !options.html.empty();
  std::vector<std::string> attributes = rules->AttributeNames();
  if (page) {
    attributes.insert(attributes.end(), replay::kProfileAttributes.begin(),
                      replay::kProfileAttributes.end());
  }
  const auto log_options = LogOptionsOf(options.logs);
  auto plan = AttributePlanOf(options.logs, attributes);
  if (!log_options || !plan) {
    return kExitError;
  }
  if (const ListenerConfig* const proxies = ListenerOfProxies(besides.listeners)) {
    plan->ReadPathsAs(proxies->proxy.paths);
  }
  std::string decisions;
  replay::LogReplayOptions run{.compare = options.compare, .top = options.top};
  run.keys = options.keys == 0 ? run.keys : options.keys;
  run.today = base::SystemClock().Read().wall_clock;
  run.spread = !options.logs.no_spread;
  run.profile = page;
  run.decisions = options.decisions ? &decisions : nullptr;
  replay::ReplayReport report;
  bool written = true;
  const auto done =
      ReadInOrder(options.logs, *log_options, *plan, options.decisions, [&](logs::LogMerge& logs) {
        replay::LogReplay replay(run, rules, *plan);
        ProgressBar progress(logs);
        Result<void> ran = replay.Run(logs, [&] {
          written = Print(decisions) && written;
          progress.Show();
        });
        if (ran) {
          report = replay.Report(logs);
        }
        return ran;
      });
  if (!done) {
    return RefuseLogs(done.error().Text());
  }
  std::string text =
      options.json ? replay::ReportJson(report) : replay::ReportText(report, OutputColumns());
  if (options.decisions) {
    std::fputs(text.c_str(), stderr);  // Standard output has the decisions.
  } else {
    written = Print(text) && written;
  }
  if (page) {
    report.rule_files = Joined(options.rules);
    report.version = kVersion;
    std::ofstream file(options.html, std::ios::binary);
    file << replay::ReportHtml(report) << std::flush;
    if (!file) {
      return RefuseLogs(options.html + ": cannot be written");
    }
  }
  if (!written || std::fflush(stdout) != 0) {
    return RefuseLogs("the report could not be written");
  }
  return kExitOk;
}

}  // namespace

void AddReplay(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ReplayOptions>();
  Command& command = AddCommand(
      app, "replay", "Report what rules would have done to the traffic in request logs",
      {.notes =
           "Logs: Apache and NGINX common, combined and vhost_combined, HAProxy HTTP, AWS ALB and "
           "ELB, Envoy and Istio text, CSV, TSV, JSON lines, W3C (IIS, CloudFront), and what "
           "--log-format describes; plain, or inside the output of Docker, Compose, Kubernetes or "
           "syslog. The format is detected.\n\n"
           "Attributes: ip, client, method, path, endpoint, host, status, user_agent, user, and "
           "every column by its name. If --rules is a daemon's configuration with a listener for "
           "proxies, endpoint is normalised by its paths setting, as in a proxy's request.\n\n"
           "--format events: reads one JSON object per line, prints one line per check or peek "
           "(docs/replay.md).",
       .exit_codes = "0 done, 1 the rules are invalid, 2 error",
       .examples = {
           {"What rules would have done to a log", "sluice replay --rules rules.yaml access.log"},
           {"Compare the algorithms, and write a page with charts",
            "sluice replay --rules rules.yaml --compare --html report.html access.log"}}});
  command.add_option("--rules", options->rules, "Rule file (may be repeated)")
      ->required()
      ->type_name("FILE")
      ->allow_extra_args(false);
  AddLogArguments(command, options->logs, {"events"});
  command.add_flag(
      "--compare", options->compare,
      "Also compare all algorithms at the same limit, and count their wrong decisions");
  command.add_flag("--json", options->json, "Print the report as JSON");
  command.add_option("--html", options->html, "Also write the report as one page with charts")
      ->type_name("FILE");
  command.add_flag("--decisions", options->decisions,
                   "Print a JSON line per request (events always do)");
  command.add_option("--top", options->top, "Number of keys in each list")->capture_default_str();
  command.add_option("--keys", options->keys, "Number of keys that the table has room for")
      ->check(CLI::Range(std::uint64_t{1}, store::kMostKeys))
      ->default_str("1000000, events: 65536");
  command.callback([options, &exit_code] {
    exit_code = options->logs.format == "events" ? ReplayEvents(*options) : ReplayLogs(*options);
  });
}

}  // namespace sluice::app
