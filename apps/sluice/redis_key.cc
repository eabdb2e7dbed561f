#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "command_line.h"
#include "redis/key_name.h"
#include "rule_files.h"

namespace sluice::app {

namespace {

struct RedisKeyOptions {
  std::vector<std::string> files;
  std::vector<std::string> words;
};

void Print(const rules::Rule& rule, const std::string& name, const core::KeyView& key,
           const core::Quota& quota) {
  std::string text;
  redis::AppendKeyName(name, key, quota, text);
  std::printf("%s %s\n", rule.id.c_str(), text.c_str());
}

int Key(const RedisKeyOptions& options) {
  std::vector<Attribute> attributes;
  if (!ReadAttributes(options.words, attributes)) {
    return kExitError;
  }
  rules::Findings findings;
  const auto set = ReadRuleFiles(options.files, findings);
  if (set == nullptr) {
    for (const Error& error : findings.errors) {
      std::fprintf(stderr, "%s\n", error.Text().c_str());
    }
    return kExitError;
  }
  rules::Matches matches;
  if (const auto matched = set->Match(
          attributes, Cost{.units = 0}, {}, matches,
          {.absent_cost = rules::AbsentCost::kIsTheCalls, .secrets = rules::Secrets::kMayBeHashes});
      !matched) {
    std::fprintf(stderr, "sluice: invalid request: %s\n", matched.error().Text().c_str());
    return kExitError;
  }
  bool any = false;
  for (const rules::AppliedRule& applied : matches.applied()) {
    if (applied.key_missing || applied.quota.unlimited) {
      continue;  // It is not stored.
    }
    any = true;
    const core::KeyView key{
        .rule = applied.rule->id, .formerly = applied.rule->formerly, .parts = applied.parts};
    Print(*applied.rule, applied.rule->id, key, applied.quota);
    for (const std::string& old : applied.rule->formerly) {
      Print(*applied.rule, old, key, applied.quota);
    }
  }
  if (!any) {
    std::fprintf(stderr, "sluice: no rule with a counter applies (see sluice explain)\n");
  }
  return any ? kExitOk : kExitNo;
}

}  // namespace

void AddKey(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RedisKeyOptions>();
  Command& command = AddCommand(
      app, "key", "Print the Redis keys of a request",
      {.notes = "Prints a line for each rule that applies: its id and the key; with formerly, also "
                "the keys of the former ids.",
       .exit_codes = "0 a rule applies, 1 no rule applies, 2 error",
       .examples = {{"The key that Redis has for a user",
                     "sluice key --rules rules.yaml user_id=u_42 | cut -d' ' -f2"}}});
  command.add_option("--rules", options->files, "Rule file or configuration; may be repeated")
      ->required()
      ->type_name("FILE")
      ->allow_extra_args(false);
  command.add_option("attributes", options->words, "The request's attributes: key=value ...");
  command.callback([options, &exit_code] { exit_code = Key(*options); });
}

}  // namespace sluice::app
