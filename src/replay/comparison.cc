#include "replay/comparison.h"

#include <algorithm>
#include <utility>

namespace sluice::replay {

namespace {

using core::AlgorithmTraits;
using core::Quota;

// `way` with the limit of one request. If the rule is a bucket, its own row keeps its burst.
Quota At(const Quota& way, const Quota& asked, bool own) {
  Quota quota = way;
  quota.window = asked.window;
  if (own) {
    return asked;
  }
  quota.limit = core::LimitPerWindow(asked);
  quota.rate = core::IsBucket(way.algorithm) ? quota.limit : 0;
  return quota;
}

std::string NameOf(const Quota& quota) {
  std::string name(core::NameOf(quota.algorithm));
  if (core::TraitsOf(quota.algorithm).has_segments()) {
    name += ", " + std::to_string(quota.segments) + " segments";
    name += quota.strict ? ", strict" : "";
  }
  return name;
}

// What every rule is compared with: an algorithm, with those of its numbers that are not the
// rule's.
struct Way {
  Quota quota;
  std::string name;

  // Whether the rule itself is this row. For a bucket it is if its burst is its rate, and it shapes
  // nothing.
  [[nodiscard]] bool Is(const Quota& rule) const {
    if (core::IsBucket(quota.algorithm)) {
      return core::IsBucket(rule.algorithm) && rule.limit == rule.rate && !rule.shape;
    }
    return rule.algorithm == quota.algorithm && rule.strict == quota.strict &&
           (!core::TraitsOf(quota.algorithm).has_segments() || rule.segments == quota.segments);
  }
};

// A row for each steps that a rule may have, and one for each of their variants. First those that
// estimate, then those that are exact, then the buckets.
std::vector<Way> Ways() {
  std::vector<Way> ways;
  for (const AlgorithmTraits& traits : core::kAlgorithms) {
    if (!traits.in_rules || traits.has_holds()) {
      continue;
    }
    const auto like = std::ranges::find_if(ways, [&traits](const Way& way) {
      return core::TraitsOf(way.quota.algorithm).steps == traits.steps;
    });
    if (like != ways.end()) {
      const bool is_same = core::TraitsOf(like->quota.algorithm).fields == traits.fields;
      like->name += is_same ? " = " + std::string(traits.name) : "";
      continue;
    }
    Quota quota{.algorithm = traits.algorithm};
    ways.push_back({.quota = quota, .name = NameOf(quota)});
    if (traits.fields.Has(core::QuotaField::kStrict)) {
      quota.strict = true;
      ways.push_back({.quota = quota, .name = NameOf(quota)});
    }
  }
  std::ranges::stable_sort(ways, {}, [](const Way& way) {
    const AlgorithmTraits& traits = core::TraitsOf(way.quota.algorithm);
    return std::pair(traits.is_bucket(), traits.is_exact);
  });
  return ways;
}

void Compare(Errors& errors, bool allowed, bool right) {
  errors.wrongly_allowed += allowed && !right ? 1 : 0;
  errors.wrongly_denied += !allowed && right ? 1 : 0;
}

}  // namespace

bool Comparison::IsComparable(const Quota& quota) {
  return !quota.unlimited && quota.calendar == nullptr && !core::HasHolds(quota.algorithm) &&
         core::LimitPerWindow(quota) > 0;
}

Comparison::Comparison(const Quota& quota) {
  bool found = false;
  for (const Way& way : Ways()) {
    const bool own = way.Is(quota);
    found = found || own;
    AddRow(way.name + (core::IsBucket(way.quota.algorithm) ? ", burst = limit" : ""), way.quota,
           own);
  }
  if (!found) {
    std::string name = NameOf(quota);
    if (core::IsBucket(quota.algorithm)) {
      name += ", burst " + std::to_string(quota.limit);
    }
    AddRow(std::move(name), quota, true);
  }
}

void Comparison::AddRow(std::string name, const Quota& quota, bool own) {
  rows_.emplace_back();
  rows_.back().name = std::move(name);
  rows_.back().own = own;
  if (!core::IsBucket(quota.algorithm)) {
    rows_.back().as_counter.emplace();
    rows_.back().counts = !core::TraitsOf(quota.algorithm).is_exact;
  }
  quotas_.push_back(quota);
}

void Comparison::Judge(std::size_t key, const Quota& quota, WallInstant at, Cost cost) {
  if (key >= keys_.size()) {
    keys_.resize(key + 1);
  }
  Key& held = keys_[key];
  held.lanes.resize(rows_.size());
  const Units limit = core::LimitPerWindow(quota);
  const Units used = held.everything.Used(at, quota.window);
  const bool fits_everything = cost.units == 0 || used + cost.units <= limit;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    ComparisonRow& row = rows_[i];
    Lane& lane = held.lanes[i];
    const Decision decision = lane.state.Check(At(quotas_[i], quota, row.own), at, cost);
    const Units admitted = lane.admitted.Used(at, quota.window);
    const bool fits = cost.units == 0 || admitted + cost.units <= limit;
    ++row.requests;
    row.denied += decision.allowed ? 0 : 1;
    Compare(row.own_admissions, decision.allowed, fits);
    Compare(row.everything, decision.allowed, fits_everything);
    if (decision.allowed) {
      lane.admitted.Add(at, cost.units, limit);
    }
    if (row.as_counter && row.counts) {
      Quota counting = quotas_[i];
      counting.window = quota.window;
      Compare(*row.as_counter, lane.counter.Count(counting, at, cost) <= limit, fits_everything);
    }
  }
  held.everything.Add(at, cost.units, limit);
}

}  // namespace sluice::replay
