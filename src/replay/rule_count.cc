#include "replay/rule_count.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/calendar.h"
#include "core/quota.h"
#include "replay/human_text.h"

namespace sluice::replay {

namespace {

constexpr std::array<int, 12> kRateBins{10, 25, 50, 75, 90, 100, 125, 150, 200, 400, 1000, 0};
constexpr std::array<double, 5> kQuantiles{0.5, 0.9, 0.99, 0.999, 1};

// Where an attribute is missing and the rule says deny, the request is nobody's.
bool HasKey(const service::RuleDecision& made) {
  return !made.parts.empty() || made.rule->key.empty();
}

KeyLine LineOf(const KeyRecord& record) {
  return {.key = std::string(record.text),
          .requests = record.requests,
          .denied = record.denied,
          .peak = record.window.peak(),
          .limit = record.limit,
          .first_denied = record.first_denied,
          .last_denied = record.last_denied};
}

// The `count` keys for which `value` is largest, 0 left out.
template <class Value>
std::vector<KeyLine> Top(const KeyLedger& ledger, std::size_t count, Value value) {
  std::vector<std::uint32_t> numbers;
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    if (value(ledger[i]) != 0) {
      numbers.push_back(static_cast<std::uint32_t>(i));
    }
  }
  const auto end = numbers.begin() + static_cast<std::ptrdiff_t>(std::min(count, numbers.size()));
  std::partial_sort(numbers.begin(), end, numbers.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto va = value(ledger[a]);
    const auto vb = value(ledger[b]);
    return va != vb ? va > vb : a < b;
  });
  std::vector<KeyLine> lines;
  std::for_each(numbers.begin(), end,
                [&](std::uint32_t number) { lines.push_back(LineOf(ledger[number])); });
  return lines;
}

std::vector<RateBin> RatesOf(const KeyLedger& ledger) {
  std::vector<RateBin> bins;
  bins.reserve(std::size(kRateBins));
  for (const int percent : kRateBins) {
    bins.push_back({.up_to_percent = percent});
  }
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    const KeyRecord& record = ledger[i];
    const double percent = record.limit == 0 ? 1e9
                                             : 100.0 * static_cast<double>(record.window.peak()) /
                                                   static_cast<double>(record.limit);
    const auto bin = std::ranges::find_if(bins, [percent](const RateBin& candidate) {
      return candidate.up_to_percent == 0 || percent <= candidate.up_to_percent;
    });
    ++bin->keys;
  }
  return bins;
}

std::vector<RuleReport::Quantile> QuantilesOf(const KeyLedger& ledger) {
  std::vector<Units> peaks;
  peaks.reserve(ledger.size());
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    peaks.push_back(ledger[i].window.peak());
  }
  std::ranges::sort(peaks);
  std::vector<RuleReport::Quantile> quantiles;
  for (const double share : kQuantiles) {
    if (!peaks.empty()) {
      const auto at = static_cast<std::size_t>(share * static_cast<double>(peaks.size() - 1));
      quantiles.push_back({.share = share, .peak = peaks[at]});
    }
  }
  return quantiles;
}

}  // namespace

RuleCount::RuleCount(const rules::Rule& rule, bool compare)
    : rule_(rule),
      has_peaks_(!rule.quota.unlimited && rule.quota.algorithm != core::Algorithm::kConcurrency) {
  if (compare && Comparison::IsComparable(rule.quota)) {
    comparison_ = std::make_unique<Comparison>(rule.quota);
  }
}

std::uint64_t RuleCount::HashOf(const service::RuleDecision& made) {
  return HasKey(made) ? keys_.HashOf(made.parts) : 0;
}

void RuleCount::Count(const service::RuleDecision& made, WallInstant at, std::uint64_t key_hash) {
  const bool allowed = made.decision.allowed;
  ++requests_;
  denied_ += allowed ? 0 : 1;
  timeline_.Add(at, allowed);
  if (allowed && made.decision.wait > Duration{}) {
    ++delayed_;
    longest_wait_ = std::max(longest_wait_, made.decision.wait);
  }
  if (!HasKey(made)) {
    return;
  }
  const std::size_t number = keys_.Find(made.parts, key_hash);
  KeyRecord& key = keys_[number];
  ++key.requests;
  if (!allowed) {
    key.first_denied = key.denied == 0 ? at : key.first_denied;
    key.last_denied = at;
    ++key.denied;
  }
  if (has_peaks_ && !made.quota.unlimited) {
    key.limit = core::LimitPerWindow(made.quota);
    if (made.quota.calendar != nullptr) {
      key.window.AddInPeriod(made.quota.calendar->At(at).begin, made.cost.units);
    } else {
      key.window.Add(at, made.cost.units, made.quota.window);
    }
  }
  if (comparison_ != nullptr && Comparison::IsComparable(made.quota)) {
    comparison_->Judge(number, made.quota, at, made.cost);
  }
}

RuleReport RuleCount::Report(std::size_t top, std::uint64_t skipped) const {
  RuleReport report{.id = rule_.id,
                    .key_pattern = rule_.key_pattern,
                    .algorithm = std::string(core::NameOf(rule_.quota.algorithm)),
                    .quota = QuotaText(rule_.quota),
                    .mode = rule_.mode,
                    .requests = requests_,
                    .denied = denied_,
                    .skipped = skipped,
                    .delayed = delayed_,
                    .longest_wait = longest_wait_,
                    .keys = keys_.size(),
                    .timeline = timeline_,
                    .has_peaks = has_peaks_};
  if (rule_.quota.calendar != nullptr) {
    const std::string_view shape = rule_.quota.calendar->shape();
    report.window = shape.substr(0, shape.find(' '));
  } else if (has_peaks_) {
    report.window = WindowText(rule_.quota.window);
  }
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    report.keys_denied += keys_[i].denied != 0 ? 1 : 0;
  }
  report.most_denied = Top(keys_, top, [](const KeyRecord& record) { return record.denied; });
  report.busiest = Top(keys_, top, [](const KeyRecord& record) { return record.requests; });
  if (has_peaks_) {
    report.rates = RatesOf(keys_);
    report.quantiles = QuantilesOf(keys_);
  }
  if (comparison_ != nullptr) {
    report.comparison = comparison_->rows();
  }
  return report;
}

}  // namespace sluice::replay
