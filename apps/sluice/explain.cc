#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/display_text.h"
#include "command.h"
#include "command_line.h"
#include "core/calendar.h"
#include "exit_code.h"
#include "rule_files.h"
#include "rules/value_reader.h"
#include "wire/path_normalizer.h"

namespace sluice::app {

namespace {

struct ExplainOptions {
  std::vector<std::string> files;
  std::vector<std::string> words;
  std::int64_t cost = 1;
};

// What stands in the rule's `window`.
std::string WindowText(const core::Quota& quota) {
  return quota.calendar != nullptr ? quota.calendar->Text() : rules::DurationText(quota.window);
}

std::string Numbers(const core::Quota& quota) {
  if (quota.unlimited) {
    return "unlimited";
  }
  const std::string window = WindowText(quota);
  if (core::IsBucket(quota.algorithm)) {
    return fmt::format("{} per {}, burst {}", quota.rate, window, quota.limit);
  }
  if (quota.algorithm == core::Algorithm::kConcurrency) {
    const Units ceiling = core::CeilingOf(quota);
    const std::string share =
        ceiling == quota.limit ? "" : fmt::format(" ({} for this priority)", ceiling);
    return fmt::format("{} at the same time{}, hold_ttl {}", quota.limit, share, window);
  }
  return fmt::format("{} per {}", quota.limit, window);
}

// Puts in place of the endpoint what a listener with strict paths makes of it, and says so. False:
// such a request is refused there.
bool NormalizeEndpoint(const std::vector<ListenerConfig>& listeners,
                       std::vector<Attribute>& attributes, std::string& normal) {
  const auto endpoint = std::ranges::find(attributes, "endpoint", &Attribute::name);
  const auto listener = std::ranges::find_if(listeners, [](const ListenerConfig& one) {
    return one.has_proxies && one.proxy.paths.strict;
  });
  if (endpoint == attributes.end() || listener == listeners.end()) {
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
  std::vector<ListenerConfig> listeners;
  const auto set = ReadRuleFiles(options.files, findings, &listeners);
  if (set == nullptr) {
    for (const Error& error : findings.errors) {
      std::fprintf(stderr, "%s\n", error.Text().c_str());
    }
    return kExitError;
  }
  std::string endpoint;
  if (!NormalizeEndpoint(listeners, attributes, endpoint)) {
    return kExitNo;
  }
  const Cost cost{.units = options.cost};
  rules::Matches matches;
  if (const auto matched = set->Match(attributes, cost, {}, matches); !matched) {
    std::printf("invalid request: %s\n", matched.error().Text().c_str());
    return kExitNo;
  }
  const auto explanations = set->Explain(attributes, cost, {});
  bool any = false;
  for (const auto& each : explanations) {
    any = any || each.applies;
  }
  std::printf("%s\n", any ? "These rules apply:" : "No rule applies: the request is allowed.");
  for (const auto& each : explanations) {
    if (each.applies) {
      std::printf(
          "  %-24s %s, %s, cost %lld%s%s%s  (%s)\n", each.rule->id.c_str(),
          std::string(core::NameOf(each.quota.algorithm)).c_str(), Numbers(each.quota).c_str(),
          static_cast<long long>(each.cost.units),
          each.rule->mode == rules::Mode::kShadow ? ", shadow" : "", each.why.empty() ? "" : ", ",
          base::DisplayText(each.why).c_str(),
          Error{.message = each.rule->key_pattern, .place = each.rule->place}.Text().c_str());
    }
  }
  for (const auto& each : explanations) {
    if (!each.applies) {
      std::printf("  %-24s does not: %s\n", each.rule->id.c_str(),
                  base::DisplayText(each.why).c_str());
    }
  }
  return any ? kExitOk : kExitNo;
}

}  // namespace

void AddExplain(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExplainOptions>();
  Command& command = AddCommand(
      app, "explain", "Show which rules apply to a request, and their limits",
      {.exit_codes = "0 a rule applies, 1 none does, 2 error",
       .examples = {{"The rules for a customer of a plan",
                     "sluice explain --rules rules.yaml user_id=u_42 plan=enterprise"}}});
  command.add_option("--rules", options->files, "Rule file or configuration; may be repeated")
      ->required()
      ->type_name("FILE")
      ->allow_extra_args(false);
  command.add_option("attributes", options->words, "The request's attributes: key=value ...");
  command.add_option("--cost", options->cost, "The call's cost")->capture_default_str();
  command.callback([options, &exit_code] { exit_code = Explain(*options); });
}

}  // namespace sluice::app
