#include "store/judge.h"

#include <bit>

#include "base/assert.h"
#include "core/attempt_window.h"
#include "core/bucket.h"
#include "core/concurrency.h"
#include "core/fixed_window.h"
#include "core/sliding_window.h"
#include "core/sliding_window_counter.h"
#include "core/sliding_window_log.h"
#include "core/throttle.h"
#include "store/list_kind.h"

namespace sluice::store {

namespace {

using core::Algorithm;
using core::Concurrency;
using core::Quota;
using Bucket = core::Bucket<TableTimeline>;
using FixedWindow = core::FixedWindow<TableTimeline>;
using Counter = core::SlidingWindowCounter<TableTimeline>;
using Log = core::SlidingWindowLog<TableTimeline>;
using Sliding = core::SlidingWindow<TableTimeline>;
using AttemptWindow = core::AttemptWindow<TableTimeline>;
using Throttle = core::Throttle<TableTimeline>;

// A State of 32 bytes is the slot's; one of 24 leaves room for the chain's ends.
template <class State>
State From(const RawState& raw) {
  if constexpr (sizeof(State) == sizeof(RawState)) {
    return std::bit_cast<State>(raw);
  } else {
    return std::bit_cast<State>(std::bit_cast<ListState>(raw).core);
  }
}

template <class State>
RawState Into(const State& state, const RawState& raw) {
  if constexpr (sizeof(State) == sizeof(RawState)) {
    return std::bit_cast<RawState>(state);
  } else {
    ListState list = std::bit_cast<ListState>(raw);
    list.core = std::bit_cast<decltype(list.core)>(state);
    return std::bit_cast<RawState>(list);
  }
}

template <class Core>
Step Plain(const Quota& quota, const RawState& state, const TableNow& now, Cost cost) {
  const auto outcome = Core::Check(quota, From<typename Core::State>(state), now, cost);
  return {.decision = outcome.decision, .on_allow = Into(outcome.on_allow, state), .change = {}};
}

Step Held(const Quota& quota, const RawState& state, const TableNow& now, Cost cost, Units kept) {
  const auto outcome = Concurrency::Check(quota, From<Concurrency::State>(state), now, cost, kept);
  return {.decision = outcome.decision, .on_allow = Into(outcome.on_allow, state), .change = {}};
}

template <class Core>
Step Listed(const Quota& quota, const RawState& state, const EntryView& entries,
            const TableNow& now, Cost cost) {
  const auto outcome = Core::Check(quota, From<typename Core::State>(state), entries, now, cost);
  return {.decision = outcome.decision,
          .on_allow = Into(outcome.on_allow, state),
          .change = {.drop = outcome.drop, .append = outcome.append}};
}

template <class Core>
RefundStep ListedRefund(const Quota& quota, const RawState& state, const EntryView& entries,
                        const TableNow& now, Units units) {
  const auto outcome = Core::Refund(quota, From<typename Core::State>(state), entries, now, units);
  return {.state = Into(outcome.state, state), .drop = outcome.drop, .take = outcome.take};
}

}  // namespace

Step JudgeCheck(const Quota& quota, const RawState& state, const EntryView& entries,
                const TableNow& now, Cost cost, Units kept) {
  switch (quota.algorithm) {
    case Algorithm::kTokenBucket:
    case Algorithm::kGcra:
    case Algorithm::kLeakyBucket:
      return Plain<Bucket>(quota, state, now, cost);
    case Algorithm::kThrottle:
      return Plain<Throttle>(quota, state, now, cost);
    case Algorithm::kAttemptWindow:
      return Plain<AttemptWindow>(quota, state, now, cost);
    case Algorithm::kFixedWindow:
      return Plain<FixedWindow>(quota, state, now, cost);
    case Algorithm::kSlidingWindowCounter:
      return Plain<Counter>(quota, state, now, cost);
    case Algorithm::kConcurrency:
      return Held(quota, state, now, cost, kept);
    case Algorithm::kSlidingWindowLog:
      return Listed<Log>(quota, state, entries, now, cost);
    case Algorithm::kSlidingWindow:
      return Listed<Sliding>(quota, state, entries, now, cost);
  }
  SLUICE_ASSERT(false);
  return {};
}

Decision JudgePeek(const Quota& quota, const RawState& state, const EntryView& entries,
                   const TableNow& now, Cost cost, Units kept) {
  switch (quota.algorithm) {
    case Algorithm::kTokenBucket:
    case Algorithm::kGcra:
    case Algorithm::kLeakyBucket:
      return Bucket::Peek(quota, From<Bucket::State>(state), now, cost).decision;
    case Algorithm::kThrottle:
      return Throttle::Peek(quota, From<Throttle::State>(state), now, cost).decision;
    case Algorithm::kAttemptWindow:
      return AttemptWindow::Peek(quota, From<AttemptWindow::State>(state), now, cost).decision;
    case Algorithm::kFixedWindow:
      return FixedWindow::Peek(quota, From<FixedWindow::State>(state), now, cost).decision;
    case Algorithm::kSlidingWindowCounter:
      return Counter::Peek(quota, From<Counter::State>(state), now, cost).decision;
    case Algorithm::kConcurrency:
      return Concurrency::Peek(quota, From<Concurrency::State>(state), now, cost, kept).decision;
    case Algorithm::kSlidingWindowLog:
      return Log::Peek(quota, From<Log::State>(state), entries, now, cost).decision;
    case Algorithm::kSlidingWindow:
      return Sliding::Peek(quota, From<Sliding::State>(state), entries, now, cost).decision;
  }
  SLUICE_ASSERT(false);
  return {};
}

RefundStep JudgeRefund(const Quota& quota, const RawState& state, const EntryView& entries,
                       const TableNow& now, Units units) {
  switch (quota.algorithm) {
    case Algorithm::kTokenBucket:
    case Algorithm::kGcra:
    case Algorithm::kLeakyBucket:
      return {.state = Into(Bucket::Refund(quota, From<Bucket::State>(state), now, units), state)};
    case Algorithm::kThrottle:
      return {.state =
                  Into(Throttle::Refund(quota, From<Throttle::State>(state), now, units), state)};
    case Algorithm::kAttemptWindow:
      return {.state =
                  Into(AttemptWindow::Refund(quota, From<AttemptWindow::State>(state), now, units),
                       state)};
    case Algorithm::kFixedWindow:
      return {.state = Into(FixedWindow::Refund(quota, From<FixedWindow::State>(state), now, units),
                            state)};
    case Algorithm::kSlidingWindowCounter:
      return {.state =
                  Into(Counter::Refund(quota, From<Counter::State>(state), now, units), state)};
    case Algorithm::kConcurrency:
      return {.state = state};
    case Algorithm::kSlidingWindowLog:
      return ListedRefund<Log>(quota, state, entries, now, units);
    case Algorithm::kSlidingWindow:
      return ListedRefund<Sliding>(quota, state, entries, now, units);
  }
  SLUICE_ASSERT(false);
  return {};
}

TableInstant ExpiryOf(const Quota& quota, const RawState& state, const EntryView& entries) {
  switch (quota.algorithm) {
    case Algorithm::kTokenBucket:
    case Algorithm::kGcra:
    case Algorithm::kLeakyBucket:
      return Bucket::Expiry(quota, From<Bucket::State>(state));
    case Algorithm::kThrottle:
      return Throttle::Expiry(quota, From<Throttle::State>(state));
    case Algorithm::kAttemptWindow:
      return AttemptWindow::Expiry(quota, From<AttemptWindow::State>(state));
    case Algorithm::kFixedWindow:
      return FixedWindow::Expiry(quota, From<FixedWindow::State>(state));
    case Algorithm::kSlidingWindowCounter:
      return Counter::Expiry(quota, From<Counter::State>(state));
    case Algorithm::kConcurrency:
      return TableInstant(Duration(From<Concurrency::State>(state).last_expiry_ns));
    case Algorithm::kSlidingWindowLog:
      return Log::Expiry(quota, From<Log::State>(state), entries);
    case Algorithm::kSlidingWindow:
      return Sliding::Expiry(quota, From<Sliding::State>(state), entries);
  }
  SLUICE_ASSERT(false);
  return {};
}

bool Counts(const Quota& quota, const RawState& state, const BlockPool& blocks, TableInstant now) {
  const bool entries = BlocksOf(KindOf(quota.algorithm)) == BlockKind::kEntries;
  const EntryView view(blocks, entries ? std::bit_cast<ListState>(state) : ListState{}, {});
  return ExpiryOf(quota, state, view) > now;
}

}  // namespace sluice::store
