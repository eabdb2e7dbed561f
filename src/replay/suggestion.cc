#include "replay/suggestion.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/fault.h"
#include "replay/replay_report.h"
#include "rules/rule_set.h"

namespace sluice::replay {

namespace {

constexpr std::array<std::uint64_t, 3> kOneIn{100, 1'000, 10'000};

// Keys are far above the rest if they request this many times as much, and are at most one key in
// this many.
constexpr Units kGapFactor = 4;
constexpr std::size_t kGapKeys = 10;

// The demand of all keys, in decreasing order: the lowest limits that would not have denied them.
struct Needs {
  std::vector<Units> of_keys{};
  std::vector<std::uint64_t> requests{};

  // The keys that `limit` denies.
  [[nodiscard]] SuggestedLimit At(Units limit, std::uint64_t one_in) const {
    SuggestedLimit suggested{.one_in = one_in, .limit = limit};
    for (std::size_t i = 0; i < of_keys.size() && of_keys[i] > limit; ++i) {
      ++suggested.keys_touched;
      suggested.requests_of_touched += requests[i];
    }
    return suggested;
  }
};

// The smallest of 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, ... that is at least `units`.
Units RoundedUp(Units units) {
  for (Units power = 1;; power *= 10) {
    for (const Units step : {10, 15, 20, 30, 40, 50, 60, 80}) {
      if (power * step / 10 >= units && power * step % 10 == 0) {
        return power * step / 10;
      }
    }
  }
}

// Between two neighbours in the list of demands, the ratio says how clearly a limit would separate
// them. The list is decreasing, so only its first 1/kGapKeys is searched: a limit that affects more
// keys than that does not single out a few heavy clients.
// The widest gap with only a few keys above it.
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
  // Twice the demand of all others, as a round number within the gap.
  const Units limit = std::min(RoundedUp(2 * std::max<Units>(gap.below, 1)), gap.above - 1);
  gap.limit = needs.At(limit, 0);
  return gap;
}

}  // namespace

// The rules come from the rule reader, with the text that the suggestion will print: so keys,
// default numbers and normal forms are exactly those of the printed rule. Their limit of 1 does not
// matter, because demand is counted without denying.
Result<SuggestionReader> SuggestionReader::Create(const logs::AttributePlan& plan,
                                                  const std::vector<std::string>& key,
                                                  const std::vector<Duration>& windows,
                                                  bool spread) {
  std::string text = "rules:\n";
  for (std::size_t i = 0; i < windows.size(); ++i) {
    text += SuggestedRuleText("r" + std::to_string(i), key, 1, windows[i]);
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
        // A limit of 0 would deny even a cost of 0.
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

}  // namespace sluice::replay
