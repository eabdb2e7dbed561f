#include "replay/comparison.h"

#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/counted_new.h"

namespace sluice::replay {
namespace {

constexpr std::int64_t kWindowMs = 60'000;

WallInstant At(std::int64_t ms) {
  return WallInstant(std::chrono::milliseconds(1'700'000'000'000 + ms));
}

core::Quota Sliding(Units limit, std::uint8_t segments) {
  core::Quota quota;
  quota.algorithm = core::Algorithm::kSlidingWindow;
  quota.segments = segments;
  quota.limit = limit;
  quota.window = std::chrono::milliseconds(kWindowMs);
  return quota;
}

const ComparisonRow& RowNamed(const Comparison& comparison, std::string_view name) {
  for (const ComparisonRow& row : comparison.rows()) {
    if (row.name == name) {
      return row;
    }
  }
  ADD_FAILURE() << "no row " << name;
  return comparison.rows().front();
}

struct Request {
  std::size_t key;
  std::int64_t ms;
  Units cost;
};

std::vector<Request> Traffic(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Request> requests;
  std::int64_t now = 0;
  for (int i = 0; i < 3'000; ++i) {
    now += static_cast<std::int64_t>(random() % (random() % 50 == 0 ? 200'000 : 1'500));
    requests.push_back({random() % 3, now, 1 + static_cast<Units>(random() % 2)});
  }
  return requests;
}

TEST(ComparisonTest, TheLogNeverDiffersFromTheExactRule) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    Comparison comparison(Sliding(20, 8));
    for (const Request& request : Traffic(seed)) {
      comparison.Judge(request.key, Sliding(20, 8), At(request.ms), Cost{request.cost});
    }
    const ComparisonRow& row = RowNamed(comparison, "sliding_window_log");
    EXPECT_GT(row.denied, 0U);
    EXPECT_EQ(row.own_admissions.wrongly_allowed + row.own_admissions.wrongly_denied, 0U);
    EXPECT_EQ(row.as_counter->wrongly_allowed + row.as_counter->wrongly_denied, 0U);
    // What it denied does not count for it, and does for who counts everything.
    EXPECT_EQ(row.everything.wrongly_denied, 0U);
    EXPECT_GT(row.everything.wrongly_allowed, 0U);
  }
}

TEST(ComparisonTest, StrictNeverAllowsAndFixedNeverDeniesWrongly) {
  Comparison comparison(Sliding(20, 8));
  for (const Request& request : Traffic(7)) {
    comparison.Judge(request.key, Sliding(20, 8), At(request.ms), Cost{request.cost});
  }
  const ComparisonRow& strict = RowNamed(comparison, "sliding_window, 48 segments, strict");
  EXPECT_EQ(strict.own_admissions.wrongly_allowed, 0U);
  EXPECT_GT(strict.own_admissions.wrongly_denied, 0U);
  const ComparisonRow& fixed = RowNamed(comparison, "fixed_window");
  EXPECT_EQ(fixed.own_admissions.wrongly_denied, 0U);
  EXPECT_GT(fixed.own_admissions.wrongly_allowed, 0U);
}

// What is out of every window is not kept: memory follows keys, not lines.
TEST(ComparisonTest, ALongLogOfOneKeyTakesNoMoreMemoryThanAShortOne) {
  Comparison comparison(Sliding(20, 8));
  std::int64_t ms = 0;
  const auto judge = [&](int requests) {
    for (int i = 0; i < requests; ++i) {
      comparison.Judge(0, Sliding(20, 8), At(ms += 2 * kWindowMs), Cost{1});
    }
  };
  judge(10);
  const std::int64_t before = support::AllocationsOfThisThread();
  judge(1'000);
  EXPECT_EQ(support::AllocationsOfThisThread() - before, 0);
}

// The fixed window by hand: a count per aligned minute, beside an exact list of what it let
// through and of everything.
TEST(ComparisonTest, CountsTheFixedWindowsErrorsAsOneWouldByHand) {
  constexpr Units kLimit = 15;
  Comparison comparison(Sliding(kLimit, 8));
  struct Key {
    std::int64_t window = -1;
    Units used = 0;
    Units counted = 0;
    std::deque<std::pair<std::int64_t, Units>> admitted;
    std::deque<std::pair<std::int64_t, Units>> all;
  };
  std::vector<Key> keys(3);
  Errors own;
  Errors everything;
  Errors counter;
  const auto used_of = [](std::deque<std::pair<std::int64_t, Units>>& list, std::int64_t now) {
    Units sum = 0;
    for (const auto& [ms, units] : list) {
      sum += ms > now - kWindowMs ? units : 0;
    }
    return sum;
  };
  const auto note = [](Errors& errors, bool allowed, bool right) {
    errors.wrongly_allowed += allowed && !right ? 1 : 0;
    errors.wrongly_denied += !allowed && right ? 1 : 0;
  };
  for (const Request& request : Traffic(3)) {
    comparison.Judge(request.key, Sliding(kLimit, 8), At(request.ms), Cost{request.cost});
    Key& key = keys[request.key];
    const std::int64_t window = (1'700'000'000'000 + request.ms) / kWindowMs;
    if (window != key.window) {
      key.window = window;
      key.used = key.counted = 0;
    }
    const bool allowed = key.used + request.cost <= kLimit;
    key.counted += request.cost;
    const bool right = used_of(key.all, request.ms) + request.cost <= kLimit;
    note(own, allowed, used_of(key.admitted, request.ms) + request.cost <= kLimit);
    note(everything, allowed, right);
    note(counter, key.counted <= kLimit, right);
    key.all.emplace_back(request.ms, request.cost);
    if (allowed) {
      key.used += request.cost;
      key.admitted.emplace_back(request.ms, request.cost);
    }
  }
  const ComparisonRow& row = RowNamed(comparison, "fixed_window");
  EXPECT_EQ(row.own_admissions.wrongly_allowed, own.wrongly_allowed);
  EXPECT_EQ(row.own_admissions.wrongly_denied, own.wrongly_denied);
  EXPECT_EQ(row.everything.wrongly_allowed, everything.wrongly_allowed);
  EXPECT_EQ(row.everything.wrongly_denied, everything.wrongly_denied);
  EXPECT_EQ(row.as_counter->wrongly_allowed, counter.wrongly_allowed);
  EXPECT_EQ(row.as_counter->wrongly_denied, counter.wrongly_denied);
  EXPECT_GT(own.wrongly_allowed, 0U);
}

TEST(ComparisonTest, MarksTheRulesOwnRowAndAddsItWhereItIsNoneOfTheOthers) {
  EXPECT_TRUE(RowNamed(Comparison(Sliding(5, 8)), "sliding_window, 8 segments").own);
  EXPECT_TRUE(RowNamed(Comparison(Sliding(5, 60)), "sliding_window, 60 segments").own);
  core::Quota bucket = Sliding(20, 8);
  bucket.algorithm = core::Algorithm::kGcra;
  bucket.rate = 10;
  EXPECT_TRUE(RowNamed(Comparison(bucket), "gcra, burst 20").own);
  bucket.rate = 20;
  EXPECT_TRUE(RowNamed(Comparison(bucket), "token_bucket = gcra, burst = limit").own);
}

TEST(ComparisonTest, LeavesOutWhatHasNoLimitPerWindow) {
  core::Quota quota = Sliding(5, 8);
  EXPECT_TRUE(Comparison::IsComparable(quota));
  quota.unlimited = true;
  EXPECT_FALSE(Comparison::IsComparable(quota));
  quota = Sliding(0, 8);
  EXPECT_FALSE(Comparison::IsComparable(quota));
  quota = Sliding(5, 8);
  quota.algorithm = core::Algorithm::kConcurrency;
  EXPECT_FALSE(Comparison::IsComparable(quota));
}

}  // namespace
}  // namespace sluice::replay
