#include "replay/comparison.h"

#include <algorithm>
#include <utility>

namespace sluice::replay {

namespace {

using core::Algorithm;
using core::Quota;

bool SameWay(const Quota& a, const Quota& b) {
  return a.algorithm == b.algorithm && a.strict == b.strict &&
         (a.algorithm != Algorithm::kSlidingWindow || a.segments == b.segments);
}

// `way` with the limit of one request. A rule that is a bucket keeps its burst as its own row.
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
  if (quota.algorithm == Algorithm::kSlidingWindow) {
    name += ", " + std::to_string(quota.segments) + " segments";
    name += quota.strict ? ", strict" : "";
  }
  return name;
}

void Compare(Errors& errors, bool allowed, bool right) {
  errors.wrongly_allowed += allowed && !right ? 1 : 0;
  errors.wrongly_denied += !allowed && right ? 1 : 0;
}

}  // namespace

bool Comparison::IsComparable(const Quota& quota) {
  return !quota.unlimited && quota.calendar == nullptr &&
         quota.algorithm != Algorithm::kConcurrency && core::LimitPerWindow(quota) > 0;
}

Comparison::Comparison(const Quota& quota) {
  std::vector<Quota> ways(6);
  ways[0].algorithm = Algorithm::kFixedWindow;
  ways[1].algorithm = Algorithm::kSlidingWindowCounter;
  ways[2].algorithm = Algorithm::kSlidingWindow;
  ways[3].algorithm = Algorithm::kSlidingWindow;
  ways[3].strict = true;
  ways[4].algorithm = Algorithm::kSlidingWindowLog;
  ways[5].algorithm = Algorithm::kTokenBucket;
  // A bucket whose burst is its rate, and shapes nothing, is the row of the buckets.
  const bool plain_bucket =
      core::IsBucket(quota.algorithm) && quota.limit == quota.rate && !quota.shape;
  bool found = false;
  for (const Quota& way : ways) {
    const bool own = core::IsBucket(way.algorithm) ? plain_bucket : SameWay(way, quota);
    found = found || own;
    AddRow(core::IsBucket(way.algorithm) ? "token_bucket = gcra, burst = limit" : NameOf(way), way,
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
    rows_.back().counts = quota.algorithm != Algorithm::kSlidingWindowLog;
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
