#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <ranges>

#include <gtest/gtest.h>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/judging.h"
#include "core/quota.h"

// One key of one algorithm, driven by hand: the store's part of a step in a few lines.
namespace sluice::core {

template <class Algo, class Clock = TableClock>
class SteppedKey {
 public:
  using State = typename Algo::State;
  using Now = BasicNow<Clock>;

  explicit SteppedKey(Quota rules) : quota(rules) {}

  // Both clocks read the same.
  static Now At(Duration t) {
    return {.monotonic = BasicInstant<Clock>(t), .wall_clock = WallInstant(t)};
  }

  Decision Check(Duration t, Units units = 1) { return Check(At(t), units); }
  Decision Check(const Now& now, Units units = 1) {
    const auto outcome = Algo::Check(quota, state, now, Cost{units});
    const bool charged = outcome.decision.allowed || Algo::kTraits.charges_denials;
    state = charged ? outcome.on_allow : outcome.on_deny;
    return outcome.decision;
  }

  Decision Peek(Duration t, Units units = 0) { return Peek(At(t), units); }
  Decision Peek(const Now& now, Units units = 0) {
    const auto outcome = Algo::Peek(quota, state, now, Cost{units});
    state = outcome.decision.allowed ? outcome.on_allow : outcome.on_deny;
    return outcome.decision;
  }

  void Refund(Duration t, Units units) { Refund(At(t), units); }
  void Refund(const Now& now, Units units) { state = Algo::Refund(quota, state, now, units); }

  [[nodiscard]] BasicInstant<Clock> Expiry() const { return Algo::Expiry(quota, state); }

  // How many of `n` single units pass at one instant.
  int CountAllowed(Duration t, int n) {
    int allowed = 0;
    for (int i = 0; i < n; ++i) {
      allowed += Check(t).allowed ? 1 : 0;
    }
    return allowed;
  }

  Quota quota;
  State state{};
};

// The simplest EntryList: a deque, oldest first.
class Entries {
 public:
  template <class F>
  void ForEach(F f) const {
    for (const Entry& entry : entries_) {
      if (!f(entry)) {
        return;
      }
    }
  }

  template <class F>
  void ForEachNewestFirst(F f) const {
    for (const Entry& entry : entries_ | std::views::reverse) {
      if (!f(entry)) {
        return;
      }
    }
  }

  void Drop(std::size_t count) {
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(count));
  }

  void Append(Entry entry) {
    if (entry.units == 0) {
      return;
    }
    if (!entries_.empty() && entries_.back().at == entry.at) {
      entries_.back().units += entry.units;
    } else {
      entries_.push_back(entry);
    }
  }

  void TakeFromNewest(Units units) {
    while (units > 0) {
      const Units take = std::min(units, entries_.back().units);
      units -= take;
      entries_.back().units -= take;
      if (entries_.back().units == 0) {
        entries_.pop_back();
      }
    }
  }

  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  std::deque<Entry> entries_;
};

// The same as SteppedKey, for algorithms that keep a list.
template <class Algo, class Clock = TableClock>
class ListKey {
 public:
  using State = typename Algo::State;
  using Now = BasicNow<Clock>;

  explicit ListKey(Quota rules) : quota(rules) {}

  static Now At(Duration t) {
    return {.monotonic = BasicInstant<Clock>(t), .wall_clock = WallInstant(t)};
  }

  Decision Check(Duration t, Units units = 1) { return Check(At(t), units); }
  Decision Check(const Now& now, Units units = 1) {
    const auto outcome = Algo::Check(quota, state, entries, now, Cost{units});
    if (outcome.decision.allowed) {
      entries.Drop(outcome.drop);
      entries.Append(outcome.append);
      state = outcome.on_allow;
    } else {
      state = outcome.on_deny;
    }
    return outcome.decision;
  }

  Decision Peek(Duration t, Units units = 0) { return Peek(At(t), units); }
  Decision Peek(const Now& now, Units units = 0) {
    const auto outcome = Algo::Peek(quota, state, entries, now, Cost{units});
    EXPECT_EQ(outcome.drop, 0U);
    EXPECT_EQ(outcome.append.units, 0);
    state = outcome.decision.allowed ? outcome.on_allow : outcome.on_deny;
    return outcome.decision;
  }

  void Refund(Duration t, Units units) { Refund(At(t), units); }
  void Refund(const Now& now, Units units) {
    const auto refund = Algo::Refund(quota, state, entries, now, units);
    entries.Drop(refund.drop);
    entries.TakeFromNewest(refund.take);
    state = refund.state;
  }

  int CountAllowed(Duration t, int n) {
    int allowed = 0;
    for (int i = 0; i < n; ++i) {
      allowed += Check(t).allowed ? 1 : 0;
    }
    return allowed;
  }

  [[nodiscard]] BasicInstant<Clock> Expiry() const { return Algo::Expiry(quota, state, entries); }

  Quota quota;
  State state{};
  Entries entries;
};

}  // namespace sluice::core
