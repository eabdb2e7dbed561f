#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "replay/human_text.h"
#include "replay/replay_report.h"
#include "replay/suggestion.h"
#include "wire/json_writer.h"

namespace sluice::replay {

namespace {

// The algorithm of the rule that is printed.
constexpr std::string_view kAlgorithm = "sliding_window";

// "ip:{ip}".
std::string PatternOf(const std::vector<std::string>& key) {
  std::string pattern;
  for (const std::string& name : key) {
    fmt::format_to(std::back_inserter(pattern), "{}{}:{{{}}}", pattern.empty() ? "" : " ", name,
                   name);
  }
  return pattern.empty() ? "all" : pattern;
}

std::string KeysText(const SuggestedLimit& limit, std::uint64_t requests) {
  return limit.keys_touched == 0
             ? "no key"
             : fmt::format("{} key{}, which sent {} requests ({})", Grouped(limit.keys_touched),
                           limit.keys_touched == 1 ? "" : "s", Grouped(limit.requests_of_touched),
                           Percent(limit.requests_of_touched, requests));
}

}  // namespace

std::string SuggestedRuleText(std::string_view id, const std::vector<std::string>& key, Units limit,
                              Duration window) {
  return fmt::format(
      "  - id: {}\n    key_pattern: \"{}\"\n    algorithm: {}\n    limit: {}\n    window: {}\n", id,
      PatternOf(key), kAlgorithm, limit, WindowText(window));
}

std::string SuggestionText(const Suggestion& suggestion, const std::vector<std::string>& key,
                           const std::string& cost, std::size_t width) {
  std::string text;
  const auto out = std::back_inserter(text);
  const std::string window = WindowText(suggestion.window);
  std::string id = key.empty() ? "all" : "per";
  for (const std::string& name : key) {
    id += "_" + name;
  }
  id += "_" + window;
  if (suggestion.skipped != 0) {
    AppendWrapped(text, Grouped(suggestion.skipped) + " requests lack the key and are left out",
                  width);
  }
  if (suggestion.keys == 0) {
    AppendWrapped(
        text,
        "no request has the key: choose another key with --key, or name its column with --map",
        width);
    return text;
  }
  text += '\n';
  AppendWrapped(
      text,
      fmt::format("{} keys; half of them never requested more than {} in {}, the highest {}",
                  Grouped(suggestion.keys), Grouped(suggestion.median_peak), window,
                  Grouped(suggestion.highest_peak)),
      width);
  TextTable limits({"would deny at most", "limit per " + window});
  for (const SuggestedLimit& limit : suggestion.limits) {
    limits.AddRow({"1 key in " + Grouped(limit.one_in), Grouped(limit.limit)},
                  KeysText(limit, suggestion.requests));
  }
  text += '\n';
  limits.AppendTo(text, width);
  if (suggestion.gap) {
    const DemandGap& gap = *suggestion.gap;
    text += '\n';
    AppendWrapped(text,
                  fmt::format("A few keys are far above the rest: no key needs a limit between {} "
                              "and {}. A limit of {} would affect {}.",
                              Grouped(gap.below), Grouped(gap.above), Grouped(gap.limit.limit),
                              KeysText(gap.limit, suggestion.requests)),
                  width);
  }
  TextTable busiest({"the highest", "requests", "most in " + window});
  for (const KeyLine& line : suggestion.busiest) {
    busiest.AddRow(
        {line.key.empty() ? "(all)" : line.key, Grouped(line.requests), Grouped(line.peak)});
  }
  text += '\n';
  busiest.AppendTo(text, width);
  const SuggestedLimit& chosen = suggestion.limits[1];
  fmt::format_to(out,
                 "\n# At most 1 key in 1,000 of this traffic is denied: {}.\n"
                 "# Denies nothing until `mode` is enforce.\n"
                 "rules:\n{}",
                 chosen.keys_touched == 1 ? "1 key" : Grouped(chosen.keys_touched) + " keys",
                 SuggestedRuleText(id, key, chosen.limit, suggestion.window));
  if (!cost.empty()) {
    fmt::format_to(out, "    cost: {}\n", cost);
  }
  text += "    mode: shadow\n";
  return text;
}

std::string SuggestionsJson(const std::vector<Suggestion>& suggestions,
                            const std::vector<std::string>& key, const ReplayReport& report) {
  const auto number = [](std::uint64_t count) { return static_cast<std::int64_t>(count); };
  std::string text;
  wire::JsonWriter json(text);
  json.BeginObject();
  json.Name("key").BeginArray();
  for (const std::string& name : key) {
    json.Text(name);
  }
  json.EndArray();
  json.Name("suggestions").BeginArray();
  for (const Suggestion& suggestion : suggestions) {
    json.BeginObject();
    json.Name("window").Text(WindowText(suggestion.window));
    json.Name("requests").Number(number(suggestion.requests));
    json.Name("skipped").Number(number(suggestion.skipped));
    json.Name("keys").Number(number(suggestion.keys));
    json.Name("median_peak").Number(suggestion.median_peak);
    json.Name("highest_peak").Number(suggestion.highest_peak);
    json.Name("limits").BeginArray();
    for (const SuggestedLimit& limit : suggestion.limits) {
      json.BeginObject();
      json.Name("one_in").Number(number(limit.one_in));
      json.Name("limit").Number(limit.limit);
      json.Name("keys_touched").Number(number(limit.keys_touched));
      json.Name("requests_of_touched").Number(number(limit.requests_of_touched));
      json.EndObject();
    }
    json.EndArray();
    if (suggestion.gap) {
      json.Name("gap").BeginObject();
      json.Name("below").Number(suggestion.gap->below);
      json.Name("above").Number(suggestion.gap->above);
      json.Name("limit").Number(suggestion.gap->limit.limit);
      json.Name("keys_touched").Number(number(suggestion.gap->limit.keys_touched));
      json.Name("requests_of_touched").Number(number(suggestion.gap->limit.requests_of_touched));
      json.EndObject();
    }
    json.EndObject();
  }
  json.EndArray();
  WriteLogs(json, report);
  json.EndObject();
  text += '\n';
  return text;
}

}  // namespace sluice::replay
