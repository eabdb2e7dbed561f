#include "replay/comparison.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "core/bucket.h"
#include "core/fixed_window.h"
#include "core/sliding_window.h"
#include "core/sliding_window_counter.h"
#include "core/sliding_window_log.h"

namespace sluice::replay {

namespace {

using core::Algorithm;
using core::Quota;

// What stands for no limit when an algorithm only counts.
constexpr Units kCounting = kMaxUnits;

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

// An algorithm's state out of, and into, room for the largest.
template <class T>
T Load(const std::array<std::uint64_t, 4>& words) {
  std::array<std::uint64_t, sizeof(T) / 8> part;  // NOLINT: filled at once.
  std::copy_n(words.begin(), part.size(), part.begin());
  return std::bit_cast<T>(part);
}
template <class T>
void Store(std::array<std::uint64_t, 4>& words, const T& state) {
  const auto part = std::bit_cast<std::array<std::uint64_t, sizeof(T) / 8>>(state);
  std::copy_n(part.begin(), part.size(), words.begin());
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

void Comparison::Entries::Change(std::uint32_t drop, core::Entry append) {
  gone += drop;
  if (gone * 2 > list.size()) {  // So that each is moved once at most.
    list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(gone));
    gone = 0;
  }
  if (gone < list.size() && list.back().at == append.at) {
    list.back().units += append.units;
  } else {
    list.push_back(append);
  }
}

template <class Core>
Decision Comparison::StepPlain(State& state, const Quota& quota, const TableNow& now, Cost cost) {
  const auto held = Load<typename Core::State>(state.words);
  const auto outcome = Core::Check(quota, held, now, cost);
  Store(state.words, outcome.decision.allowed ? outcome.on_allow : outcome.on_deny);
  return outcome.decision;
}

template <class Core>
Decision Comparison::StepWithEntries(State& state, const Quota& quota, const TableNow& now,
                                     Cost cost) {
  const auto held = Load<typename Core::State>(state.words);
  const auto outcome = Core::Check(quota, held, state.entries, now, cost);
  if (outcome.decision.allowed && outcome.append.units > 0) {
    state.entries.Change(outcome.drop, outcome.append);
    Store(state.words, outcome.on_allow);
  }
  return outcome.decision;
}

Decision Comparison::Step(State& state, const Quota& quota, const TableNow& now, Cost cost) {
  switch (quota.algorithm) {
    case Algorithm::kFixedWindow:
      return StepPlain<core::FixedWindow<TableTimeline>>(state, quota, now, cost);
    case Algorithm::kSlidingWindowCounter:
      return StepPlain<core::SlidingWindowCounter<TableTimeline>>(state, quota, now, cost);
    case Algorithm::kTokenBucket:
    case Algorithm::kGcra:
    case Algorithm::kLeakyBucket:
      return StepPlain<core::Bucket<TableTimeline>>(state, quota, now, cost);
    case Algorithm::kSlidingWindow:
      return StepWithEntries<core::SlidingWindow<TableTimeline>>(state, quota, now, cost);
    case Algorithm::kSlidingWindowLog:
      return StepWithEntries<core::SlidingWindowLog<TableTimeline>>(state, quota, now, cost);
    case Algorithm::kConcurrency:
    case Algorithm::kThrottle:  // No rule has it,
    case Algorithm::kTally:     // nor this.
      break;
  }
  return {};  // Not comparable.
}

void Comparison::Judge(std::size_t key, const Quota& quota, WallInstant at, Cost cost) {
  if (key >= keys_.size()) {
    keys_.resize(key + 1);
  }
  Key& held = keys_[key];
  held.lanes.resize(rows_.size());
  const Units limit = core::LimitPerWindow(quota);
  const TableNow now{.line = TableInstant(at.time_since_epoch()), .wall = at};
  const Units used = held.everything.Used(at, quota.window);
  const bool fits_everything = cost.units == 0 || used + cost.units <= limit;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    ComparisonRow& row = rows_[i];
    Lane& lane = held.lanes[i];
    const Decision decision = Step(lane.state, At(quotas_[i], quota, row.own), now, cost);
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
      counting.limit = kCounting;
      const Decision counted = Step(lane.counter, counting, now, cost);
      Compare(*row.as_counter, kCounting - counted.remaining <= limit, fits_everything);
    }
  }
  held.everything.Add(at, cost.units, limit);
}

}  // namespace sluice::replay
