#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "ask_daemon.h"
#include "base/display_text.h"
#include "command.h"
#include "command_line.h"
#include "json_answer.h"
#include "rule_files.h"
#include "rules/rule.h"
#include "wire/path_normalizer.h"

namespace sluice::app {

namespace {

struct ExplainOptions {
  std::vector<std::string> files;
  std::vector<std::string> words;
  std::string server;
  std::int64_t cost = 1;
};

// One rule, as the daemon explains it.
struct ExplainedRule {
  std::string id;
  bool applies = false;
  std::string mode;
  std::string numbers;  // With algorithm and cost; "" for a rule that counts nothing.
  std::string why;
  std::string where;
};

std::string NumbersOf(std::string_view algorithm, std::string_view numbers, std::int64_t cost) {
  return fmt::format("{}, {}, cost {}", algorithm, numbers, cost);
}

int Print(const std::vector<ExplainedRule>& explained) {
  const bool any = std::ranges::any_of(explained, &ExplainedRule::applies);
  std::printf("%s\n", any ? "These rules apply:" : "No rule applies, so the request is allowed.");
  for (const ExplainedRule& rule : explained) {
    if (!rule.applies) {
      continue;
    }
    std::string line = fmt::format("  {:<24} {}", rule.id, rule.numbers);
    line += rule.mode == "shadow" ? ", shadow" : "";
    line += (rule.numbers.empty() || rule.why.empty() ? "" : ", ") + rule.why;
    std::printf("%s  (%s)\n", base::DisplayText(line).c_str(),
                base::DisplayText(rule.where).c_str());
  }
  for (const ExplainedRule& rule : explained) {
    if (!rule.applies) {
      std::printf("  %-24s does not apply: %s\n", rule.id.c_str(),
                  base::DisplayText(rule.why).c_str());
    }
  }
  return any ? kExitOk : kExitNo;
}

// Replaces the endpoint with its normal form at a listener with strict paths, and prints it. False:
// the listener refuses such a request.
bool NormalizeEndpoint(const std::vector<ListenerConfig>& listeners,
                       std::vector<Attribute>& attributes, std::string& normal) {
  const auto endpoint = std::ranges::find(attributes, "endpoint", &Attribute::name);
  const ListenerConfig* const listener = ListenerOfProxies(listeners);
  if (endpoint == attributes.end() || listener == nullptr || !listener->proxy.paths.strict) {
    return true;
  }
  const auto done =
      wire::AppendNormalPath(normal, wire::PathOfTarget(endpoint->value), listener->proxy.paths);
  const std::string asked = base::DisplayText(endpoint->value);
  if (!done) {
    std::printf("%s (paths: strict) refuses this request: %s\n", listener->address.c_str(),
                std::string(done.error()).c_str());
    return false;
  }
  if (normal != endpoint->value) {
    std::printf("%s (paths: strict) reads the path %s as %s\n", listener->address.c_str(),
                asked.c_str(), base::DisplayText(normal).c_str());
  }
  endpoint->value = normal;
  return true;
}

int Explain(const ExplainOptions& options) {
  std::vector<Attribute> attributes;
  if (!ReadAttributes(options.words, attributes)) {
    return kExitError;
  }
  if (options.cost < 0 || options.cost > kMaxUnits) {
    std::fprintf(stderr, "sluice: --cost must be 0 to %lld\n", static_cast<long long>(kMaxUnits));
    return kExitError;
  }
  rules::Findings findings;
  BesidesRules besides;
  const auto set = ReadRuleFiles(options.files, findings, &besides);
  if (set == nullptr) {
    for (const Error& error : findings.errors) {
      std::fprintf(stderr, "%s\n", error.Text().c_str());
    }
    return kExitError;
  }
  std::string endpoint;
  if (!NormalizeEndpoint(besides.listeners, attributes, endpoint)) {
    return kExitNo;
  }
  const Cost cost{.units = options.cost};
  rules::Matches matches;
  if (const auto matched = set->Match(attributes, cost, {}, matches); !matched) {
    std::printf("invalid request: %s\n", matched.error().Text().c_str());
    return kExitNo;
  }
  std::vector<ExplainedRule> explained;
  for (const auto& each : set->Explain(attributes, cost, {})) {
    const rules::Rule& rule = *each.rule;
    const bool counts = each.applies && rule.action == rules::Action::kLimit;
    explained.push_back({.id = rule.id,
                         .applies = each.applies,
                         .mode = std::string(rules::NameOf(rule.mode)),
                         .numbers = counts
                                        ? NumbersOf(core::NameOf(each.quota.algorithm),
                                                    rules::QuotaText(each.quota), each.cost.units)
                                        : "",
                         .why = each.why,
                         .where = Error{.message = rule.key_pattern, .place = rule.place}.Text()});
  }
  return Print(explained);
}

// Prints a running daemon's explanation of its active rules.
int AskAndPrint(const ExplainOptions& options) {
  std::vector<Attribute> attributes;
  if (!ReadAttributes(options.words, attributes)) {
    return kExitError;
  }
  const net::HttpCall call{.target =
                               RequestTarget("/v1/ratelimit/explain", options.cost, attributes)};
  std::string body;
  if (const int asked = AskAdmin(options.server, call, body); asked != kExitOk) {
    return asked;
  }
  boost::json::error_code error;
  const boost::json::value parsed = boost::json::parse(body, error);
  const JsonAnswer answer(parsed);
  if (error || !answer.Has("rules")) {
    std::fprintf(stderr, "sluice: unexpected answer from the server: %s\n",
                 base::DisplayText(body, base::LineFeeds::kKept).c_str());
    return kExitError;
  }
  const bool all_off = answer.Truth("kill_switch");
  if (all_off) {
    std::printf("The kill switch is on: every request is allowed, nothing is counted.\n");
  }
  std::vector<ExplainedRule> explained;
  for (const boost::json::value& item : answer.List("rules")) {
    const JsonAnswer rule(item);
    const auto cost = rule.NumberIfAny("cost");
    const std::string mode = rule.Text("mode");
    const bool is_set = !all_off && mode != rule.Text("configured_mode");
    explained.push_back(
        {.id = rule.Text("rule_id"),
         .applies = rule.Truth("applies"),
         .mode = mode,
         .numbers = cost ? NumbersOf(rule.Text("algorithm"), rule.Text("numbers"), *cost) : "",
         .why = rule.Text("why") + (is_set ? " (mode " + mode + " is set at run time)" : ""),
         .where = rule.Text("source")});
  }
  return Print(explained);
}

}  // namespace

void AddExplain(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExplainOptions>();
  Command& command =
      AddCommand(app, "explain", "Show which rules apply to a request, and their limits",
                 {.notes = "With --rules, explains rule files. Without it, asks a running daemon "
                           "about its rules from all sources, its modes and its kill switch.\n\n"
                           "Reads rules only: nothing is asked of the store. For the verdict and "
                           "the state of the keys, use sluice why.",
                  .exit_codes = "0 a rule applies, 1 no rule applies, 2 error",
                  .examples = {{"The rules for a customer with a plan",
                                "sluice explain --rules rules.yaml user_id=u_42 plan=enterprise"},
                               {"Ask the daemon on this host", "sluice explain user_id=u_42"}}});
  auto* const files =
      command.add_option("--rules", options->files, "Rule file or configuration; may be repeated")
          ->type_name("FILE")
          ->allow_extra_args(false);
  AddAdminOption(command, options->server);
  command.add_option("attributes", options->words, "The request's attributes: key=value ...");
  command.add_option("--cost", options->cost, "The call's cost")->capture_default_str();
  command.callback([options, files, &exit_code] {
    exit_code = files->count() == 0 ? AskAndPrint(*options) : Explain(*options);
  });
}

}  // namespace sluice::app
