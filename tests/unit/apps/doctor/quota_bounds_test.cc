#include "doctor/quota_bounds.h"

#include <cstdint>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "store/table.h"
#include "support/manual_clock.h"
#include "unit/service/service_fixture.h"

namespace sluice::app::doctor {
namespace {

bool Never(const std::string& grants, const std::string& limit) {
  const auto rules = service::RulesOf("rules: [{id: a, key_pattern: all, " + grants +
                                      "}, {id: b, key_pattern: all, " + limit + "}]");
  return NeverExceeds(rules->rules()[0].quota, rules->rules()[1].quota);
}

TEST(QuotaBoundsTest, ABucketIsNeverEmptiedByASlowerAndSmallerOne) {
  const std::string grants = "algorithm: token_bucket, rate: 60, window: 1m, burst: 5";
  EXPECT_TRUE(Never(grants, "algorithm: gcra, rate: 1, window: 1s, burst: 5"));
  EXPECT_FALSE(Never(grants, "algorithm: gcra, rate: 1, window: 1s, burst: 4"));
  EXPECT_FALSE(Never(grants, "algorithm: gcra, rate: 59, window: 1m, burst: 5"));
}

TEST(QuotaBoundsTest, AWindowHoldsWhatABucketLetsPass) {
  const std::string grants = "algorithm: token_bucket, rate: 60, window: 1m, burst: 5";
  EXPECT_TRUE(Never(grants, "algorithm: sliding_window_log, limit: 65, window: 1m"));
  EXPECT_FALSE(Never(grants, "algorithm: sliding_window_log, limit: 64, window: 1m"));
  EXPECT_FALSE(Never(grants, "algorithm: fixed_window, limit: 1000, window: 1d"));
}

TEST(QuotaBoundsTest, AlignedWindowsOverlapWithTwoOfTheOther) {
  const std::string grants = "algorithm: fixed_window, limit: 10, window: 1m";
  EXPECT_TRUE(Never(grants, "algorithm: sliding_window_log, limit: 20, window: 1m"));
  EXPECT_FALSE(Never(grants, "algorithm: sliding_window_log, limit: 19, window: 1m"));
  EXPECT_TRUE(Never(grants, "algorithm: fixed_window, limit: 10, window: 1m"));
  EXPECT_FALSE(Never(grants, "algorithm: fixed_window, limit: 9, window: 1m"));
}

TEST(QuotaBoundsTest, NothingIsSaidOfUnlimitedCalendarAndMixedQuotas) {
  const std::string wide = "algorithm: fixed_window, limit: 1000, window: 1m";
  EXPECT_FALSE(Never("algorithm: fixed_window, limit: unlimited", wide));
  EXPECT_FALSE(Never("algorithm: fixed_window, limit: 1, window: day", wide));
  EXPECT_FALSE(Never("algorithm: concurrency, limit: 1, hold_ttl: 1m", wide));
  EXPECT_TRUE(Never("algorithm: concurrency, limit: 3, hold_ttl: 2m",
                    "algorithm: concurrency, limit: 3, hold_ttl: 1m"));
  EXPECT_FALSE(Never("algorithm: concurrency, limit: 3, hold_ttl: 1m",
                     "algorithm: concurrency, limit: 3, hold_ttl: 2m"));
}

std::string RandomQuota(std::mt19937& random) {
  const auto from = [&](int least, int most) {
    return std::uniform_int_distribution(least, most)(random);
  };
  const auto* const window = from(0, 1) == 0 ? "1s" : "3s";
  if (from(0, 2) == 0) {
    return fmt::format("algorithm: gcra, rate: {}, window: {}, burst: {}", from(1, 4), window,
                       from(1, 8));
  }
  constexpr const char* kWindows[] = {"fixed_window", "sliding_window_log",
                                      "sliding_window_counter", "sliding_window"};
  return fmt::format("algorithm: {}, limit: {}, window: {}", kWindows[from(0, 3)], from(1, 12),
                     window);
}

// What is claimed is tried: both rules judge random requests, and the second denies none that the
// first allows.
TEST(QuotaBoundsTest, NoTrafficContradictsIt) {
  std::mt19937 random(20);  // NOLINT(bugprone-random-generator-seed): the same requests each time.
  int claims = 0;
  for (int round = 0; round < 100; ++round) {
    const std::string grants = RandomQuota(random);
    const std::string limit = RandomQuota(random);
    if (!Never(grants, limit)) {
      continue;
    }
    ++claims;
    support::ManualClock clock;
    const auto table = *store::Table::Create({.path = {}, .keys = 100, .huge_pages = false}, clock);
    service::ServiceMetrics metrics;
    service::LimiterService service(*table, metrics);
    service.SetRules(service::RulesOf("rules: [{id: a, key_pattern: all, " + grants +
                                      "}, {id: b, key_pattern: all, " + limit + "}]"));
    for (int i = 0; i < 200; ++i) {
      clock.Advance(std::chrono::milliseconds(std::uniform_int_distribution(0, 600)(random)));
      service::TestCheck check;
      service.Submit(check.operation);
      ASSERT_EQ(check.verdict.decisions.size(), 2U);
      if (check.verdict.decisions[0].decision.allowed) {
        ASSERT_TRUE(check.verdict.decisions[1].decision.allowed) << grants << " / " << limit;
      }
    }
  }
  EXPECT_GT(claims, 10);
}

}  // namespace
}  // namespace sluice::app::doctor
