#include "replay/rule_count.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/calendar.h"
#include "core/quota.h"
#include "core/wide.h"
#include "replay/human_text.h"
#include "replay/replay_report.h"

namespace sluice::replay {

namespace {

constexpr std::array<int, 12> kRateBins{10, 25, 50, 75, 90, 100, 125, 150, 200, 400, 1000, 0};
constexpr std::array<std::uint64_t, 5> kQuantilesPpm{500'000, 900'000, 990'000, 999'000, 1'000'000};

// If an attribute is missing and the rule has on_missing: deny, the request has no key.
bool HasKey(const service::RuleDecision& made) {
  return !made.parts.empty() || made.rule->key.empty();
}

KeyLine LineOf(const KeyRecord& record) {
  return {.key = std::string(record.text),
          .requests = record.requests,
          .denied = record.denied,
          .peak = record.demand.peak(),
          .limit = record.demand.limit(),
          .first_denied = record.first_denied,
          .last_denied = record.last_denied};
}

// The `count` keys with the largest `value`, without 0.
template <class Value>
std::vector<KeyLine> Top(const KeyLedger& ledger,
                         const std::vector<std::unique_ptr<KeyProfile>>& profiles,
                         std::size_t count, Value value) {
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
  std::for_each(numbers.begin(), end, [&](std::uint32_t number) {
    lines.push_back(LineOf(ledger[number]));
    if (number < profiles.size() && profiles[number] != nullptr) {
      lines.back().denied_requests = *profiles[number];
    }
  });
  return lines;
}

// Whether the key requested at most this percentage of its limit. Exact: the step at 100 %
// separates denied keys from the others.
bool IsWithin(int percent, const Demand& demand) {
  return demand.limit() > 0 && core::Multiply(static_cast<std::uint64_t>(demand.peak()), 100) <=
                                   core::Multiply(static_cast<std::uint64_t>(demand.limit()),
                                                  static_cast<std::uint64_t>(percent));
}

std::vector<RateBin> RatesOf(const KeyLedger& ledger) {
  std::vector<RateBin> bins;
  bins.reserve(std::size(kRateBins));
  for (const int percent : kRateBins) {
    bins.push_back({.up_to_percent = percent});
  }
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    const KeyRecord& record = ledger[i];
    const auto bin = std::ranges::find_if(bins, [&record](const RateBin& candidate) {
      return candidate.up_to_percent == 0 || IsWithin(candidate.up_to_percent, record.demand);
    });
    ++bin->keys;
  }
  return bins;
}

std::vector<RuleReport::Quantile> QuantilesOf(const KeyLedger& ledger) {
  std::vector<Units> peaks;
  peaks.reserve(ledger.size());
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    peaks.push_back(ledger[i].demand.peak());
  }
  std::ranges::sort(peaks);
  std::vector<RuleReport::Quantile> quantiles;
  for (const std::uint64_t share_ppm : kQuantilesPpm) {
    if (!peaks.empty()) {
      quantiles.push_back(
          {.share_ppm = share_ppm, .peak = peaks[PercentilePlace(share_ppm, peaks.size())]});
    }
  }
  return quantiles;
}

}  // namespace

RuleCount::RuleCount(const rules::Rule& rule, bool compare, bool profile)
    : rule_(rule),
      has_peaks_(!rule.quota.unlimited && !core::HasHolds(rule.quota.algorithm)),
      profile_(profile) {
  if (compare && Comparison::IsComparable(rule.quota)) {
    comparison_ = std::make_unique<Comparison>(rule.quota);
  }
}

std::uint64_t RuleCount::HashOf(const service::RuleDecision& made) {
  return HasKey(made) ? keys_.HashOf(made.parts) : 0;
}

void RuleCount::Count(const service::RuleDecision& made, const Request& request,
                      std::uint64_t key_hash) {
  const WallInstant at = request.at;
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
    if (profile_) {
      profiles_.resize(std::max(profiles_.size(), number + 1));
      if (profiles_[number] == nullptr) {
        profiles_[number] = std::make_unique<KeyProfile>();
      }
      profiles_[number]->Add(request.status, request.endpoint, request.user_agent);
    }
  }
  // Requests that other rules deny are not demand on this one: it is not charged for them.
  if (has_peaks_ && !made.quota.unlimited && (request.allowed || !allowed)) {
    key.demand.Add(made.quota, at, made.cost, /*denied=*/!allowed);
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
    report.measure = "most in a " + std::string(shape.substr(0, shape.find(' ')));
  } else if (has_peaks_) {
    report.measure = core::IsBucket(rule_.quota.algorithm)
                         ? "highest level"
                         : "most in " + WindowText(rule_.quota.window);
  }
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    report.keys_denied += keys_[i].denied != 0 ? 1 : 0;
  }
  report.most_denied =
      Top(keys_, profiles_, top, [](const KeyRecord& record) { return record.denied; });
  report.busiest =
      Top(keys_, profiles_, top, [](const KeyRecord& record) { return record.requests; });
  if (has_peaks_) {
    report.rates = RatesOf(keys_);
    report.quantiles = QuantilesOf(keys_);
  }
  if (comparison_ != nullptr) {
    report.limit_per_window =
        Grouped(core::LimitPerWindow(rule_.quota)) + " in any " + WindowText(rule_.quota.window);
    report.comparison = comparison_->rows();
  }
  return report;
}

}  // namespace sluice::replay
