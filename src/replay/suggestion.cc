#include "replay/suggestion.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/fault.h"
#include "replay/human_text.h"
#include "replay/percentile.h"
#include "replay/replay_warnings.h"
#include "replay/report_json.h"
#include "replay/text_layout.h"
#include "rules/rule_set.h"
#include "wire/json_writer.h"

namespace sluice::replay {

namespace {

constexpr std::array<std::uint64_t, 3> kOneIn{100, 1'000, 10'000};

// What is called far above the rest: so many times as much, of at most one key in so many.
constexpr Units kGapFactor = 4;
constexpr std::size_t kGapKeys = 10;

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

// The rule that is printed.
std::string RuleText(std::string_view id, const std::vector<std::string>& key, Units limit,
                     Duration window) {
  return fmt::format(
      "  - id: {}\n    key_pattern: \"{}\"\n    algorithm: {}\n    limit: {}\n    window: {}\n", id,
      PatternOf(key), kAlgorithm, limit, WindowText(window));
}

// The needs of all keys, in falling order: the least limits that would not have denied them.
struct Needs {
  std::vector<Units> of_keys{};
  std::vector<std::uint64_t> requests{};

  // Which keys `limit` denies.
  [[nodiscard]] SuggestedLimit At(Units limit, std::uint64_t one_in) const {
    SuggestedLimit suggested{.one_in = one_in, .limit = limit};
    for (std::size_t i = 0; i < of_keys.size() && of_keys[i] > limit; ++i) {
      ++suggested.keys_touched;
      suggested.requests_of_touched += requests[i];
    }
    return suggested;
  }
};

// The least of 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, ... that is at least `units`.
Units RoundedUp(Units units) {
  for (Units power = 1;; power *= 10) {
    for (const Units step : {10, 15, 20, 30, 40, 50, 60, 80}) {
      if (power * step / 10 >= units && power * step % 10 == 0) {
        return power * step / 10;
      }
    }
  }
}

// The widest gap above which there are few keys.
std::optional<DemandGap> GapIn(const Needs& needs) {
  const std::vector<Units>& falling = needs.of_keys;
  std::size_t best = 0;
  double widest = kGapFactor;
  for (std::size_t above = 1; above * kGapKeys <= falling.size(); ++above) {
    const double factor = static_cast<double>(falling[above - 1]) /
                          static_cast<double>(std::max<Units>(falling[above], 1));
    if (factor >= widest) {
      widest = factor;
      best = above;
    }
  }
  if (best == 0) {
    return std::nullopt;
  }
  DemandGap gap{.below = falling[best], .above = falling[best - 1]};
  // Twice what all others need, as a round number that is still in the gap.
  const Units limit = std::min(RoundedUp(2 * std::max<Units>(gap.below, 1)), gap.above - 1);
  gap.limit = needs.At(limit, 0);
  return gap;
}

std::string KeysText(const SuggestedLimit& limit, std::uint64_t requests) {
  return limit.keys_touched == 0
             ? "no key"
             : fmt::format("{} key{}, which sent {} requests ({})", Grouped(limit.keys_touched),
                           limit.keys_touched == 1 ? "" : "s", Grouped(limit.requests_of_touched),
                           Percent(limit.requests_of_touched, requests));
}

}  // namespace

Result<SuggestionReader> SuggestionReader::Create(const logs::AttributePlan& plan,
                                                  const std::vector<std::string>& key,
                                                  const std::vector<Duration>& windows,
                                                  bool spread) {
  std::string text = "rules:\n";
  for (std::size_t i = 0; i < windows.size(); ++i) {
    text += RuleText("r" + std::to_string(i), key, 1, windows[i]);
  }
  const std::vector<rules::SourceText> sources{{.name = "--key", .text = text}};
  rules::Findings findings;
  auto rules = rules::RuleSet::Build(sources, nullptr, findings);
  if (rules == nullptr) {
    return Fault("--key: " + findings.errors.front().message);
  }
  return SuggestionReader(plan, std::move(rules), windows, spread);
}

SuggestionReader::SuggestionReader(const logs::AttributePlan& plan,
                                   std::shared_ptr<const rules::RuleSet> rules,
                                   const std::vector<Duration>& windows, bool spread)
    : plan_(plan), rules_(std::move(rules)), spread_(spread) {
  for (const Duration length : windows) {
    windows_.push_back({.length = length});
  }
}

void SuggestionReader::Run(logs::LogMerge& logs, const std::function<void()>& progress) {
  constexpr std::uint64_t kProgressEvery = 4096;
  std::uint64_t seen = 0;
  RequestFeed feed(logs, plan_, spread_ ? SpreadFor(*rules_, plan_) : std::nullopt);
  while (const RequestFeed::Request* const request = feed.Next()) {
    Add(*request);
    if (++seen % kProgressEvery == 0) {
      progress();
    }
  }
  has_spread_ = feed.has_spread();
  progress();
}

void SuggestionReader::Add(const RequestFeed::Request& request) {
  attributes_.clear();
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    if (const std::string_view value = request.logged.Value(i); value.data() != nullptr) {
      attributes_.push_back({.name = plan_.name(i), .value = value});
    }
  }
  const Result<void> matched = rules_->Match(attributes_, Cost{request.logged.cost}, {}, matches_);
  if (!matched) {
    request.stream->CountBad(request.logged.line, matched.error().message);
    return;
  }
  first_ = requests_ == 0 ? request.at : first_;
  last_ = request.at;
  ++requests_;
  skipped_ += matches_.applied().empty() ? 1 : 0;
  for (const rules::AppliedRule& applied : matches_.applied()) {
    Window& window = windows_[applied.rule->number];
    const std::size_t number = window.keys.Find(applied.parts);
    if (number == window.peaks.size()) {
      window.peaks.emplace_back();
    }
    KeyRecord& key = window.keys[number];
    ++key.requests;
    window.peaks[number].Add(request.at, applied.cost.units, window.length);
    key.demand.Add(applied.quota, request.at, applied.cost, /*denied=*/true);
  }
}

std::vector<Suggestion> SuggestionReader::Suggestions(std::size_t top) const {
  std::vector<Suggestion> suggestions;
  for (const Window& window : windows_) {
    const KeyLedger& ledger = window.keys;
    Suggestion suggestion{
        .window = window.length, .requests = requests_, .skipped = skipped_, .keys = ledger.size()};
    std::vector<std::uint32_t> order(ledger.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, [&ledger](std::uint32_t a, std::uint32_t b) {
      return ledger[a].demand.peak() > ledger[b].demand.peak();
    });
    Needs needs;
    for (const std::uint32_t number : order) {
      needs.of_keys.push_back(ledger[number].demand.peak());
      needs.requests.push_back(ledger[number].requests);
    }
    if (!order.empty()) {
      for (const std::uint64_t one_in : kOneIn) {
        const std::size_t place = PercentilePlace(1'000'000 - (1'000'000 / one_in), order.size());
        // A limit of 0 would deny even what costs nothing.
        const Units limit = std::max<Units>(needs.of_keys[order.size() - 1 - place], 1);
        suggestion.limits.push_back(needs.At(limit, one_in));
      }
      suggestion.gap = GapIn(needs);
    }
    std::ranges::stable_sort(order, [&window](std::uint32_t a, std::uint32_t b) {
      return window.peaks[a].peak() > window.peaks[b].peak();
    });
    if (!order.empty()) {
      const std::size_t middle = PercentilePlace(500'000, order.size());
      suggestion.median_peak = window.peaks[order[order.size() - 1 - middle]].peak();
      suggestion.highest_peak = window.peaks[order.front()].peak();
    }
    for (std::size_t i = 0; i < std::min(top, order.size()); ++i) {
      KeyLine line;
      line.key = ledger[order[i]].text;
      line.requests = ledger[order[i]].requests;
      line.peak = window.peaks[order[i]].peak();
      suggestion.busiest.push_back(std::move(line));
    }
    suggestions.push_back(std::move(suggestion));
  }
  return suggestions;
}

ReplayReport SuggestionReader::Logs(const logs::LogMerge& logs, WallInstant today) const {
  ReplayReport report;
  for (const auto& stream : logs.streams()) {
    report.logs.push_back(stream->Summary());
    report.bad_lines.insert(report.bad_lines.end(), stream->bad_lines().begin(),
                            stream->bad_lines().end());
  }

  report.requests = requests_;
  report.first = first_;
  report.last = last_;
  report.today = today;
  report.spread = has_spread_;
  report.warnings = WarningsOfLogs(report);
  return report;
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
    AppendWrapped(text, "no request has the key: name another with --key, or its column with --map",
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
                 RuleText(id, key, chosen.limit, suggestion.window));
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
