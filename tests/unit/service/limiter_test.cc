#include "sluice/limiter.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

// A day's window: no test is long enough to see it end, but for the one at midnight UTC, so
// the log, whose day begins with the first request.
constexpr std::string_view kThreeADay =
    R"({rules: [{id: api, key_pattern: "user:{user_id}", algorithm: sliding_window_log, limit: 3, window: 1d}]})";
constexpr std::string_view kOneAtATime =
    R"({rules: [{id: slots, key_pattern: "user:{user_id}", algorithm: concurrency, limit: 1, hold_ttl: 1h}]})";

Limiter LimiterOf(std::string_view yaml) {
  auto limiter = Limiter::FromYaml(yaml, {.keys = 1'000});
  EXPECT_TRUE(limiter.has_value()) << limiter.error().Text();
  return std::move(*limiter);
}

TEST(LimiterTest, AllowsAsManyAsTheRuleSaysAndShowsWhatIsLeft) {
  Limiter limiter = LimiterOf(kThreeADay);
  const Attribute user{.name = "user_id", .value = "u_42"};
  const auto first = limiter.Check({user});
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->allowed);
  EXPECT_EQ(first->decision.limit, 3);
  EXPECT_EQ(first->decision.remaining, 2);
  ASSERT_EQ(first->rules.size(), 1U);
  EXPECT_EQ(first->rules[0].name, "api");
  EXPECT_TRUE(limiter.Allow({user}, Cost{.units = 2}));
  EXPECT_FALSE(limiter.Allow({user}));
  const auto denied = limiter.Check({user});
  EXPECT_FALSE(denied->allowed);
  EXPECT_EQ(denied->decision.reason, Reason::kQuotaExceeded);
  EXPECT_GT(denied->decision.retry_after, Duration{});
}

TEST(LimiterTest, PeeksRefundsAndResets) {
  Limiter limiter = LimiterOf(kThreeADay);
  const std::vector<Attribute> user{{.name = "user_id", .value = "u_42"}};
  EXPECT_TRUE(limiter.Allow(user, Cost{.units = 3}));
  EXPECT_EQ(limiter.Peek(user)->decision.remaining, 0);
  EXPECT_TRUE(limiter.Refund(user, 1));
  EXPECT_EQ(limiter.Peek(user)->decision.remaining, 1);
  EXPECT_TRUE(limiter.Reset(user));
  EXPECT_EQ(limiter.Peek(user)->decision.remaining, 3);
}

TEST(LimiterTest, GivesHoldsBackOnce) {
  Limiter limiter = LimiterOf(kOneAtATime);
  const std::vector<Attribute> user{{.name = "user_id", .value = "u_42"}};
  const auto held = limiter.Check(user);
  ASSERT_EQ(held->holds.size(), 1U);
  EXPECT_FALSE(limiter.Allow(user));
  EXPECT_TRUE(limiter.Release(held->holds[0]));
  EXPECT_FALSE(limiter.Release(held->holds[0]));
  EXPECT_TRUE(limiter.Allow(user));
}

TEST(LimiterTest, SaysWhereNothingIsCounted) {
  Limiter limiter = LimiterOf(kThreeADay);
  const auto answer = limiter.Check({{.name = "other", .value = "x"}});
  EXPECT_TRUE(answer->allowed);
  EXPECT_TRUE(answer->rules.empty());
  EXPECT_EQ(answer->decision.limit, kUnlimited);
}

TEST(LimiterTest, ErrorsAreAnsweredAndChangeNothing) {
  Limiter limiter = LimiterOf(kThreeADay);
  const std::vector<Attribute> user{{.name = "user_id", .value = "u_42"}};
  EXPECT_FALSE(limiter.Check(user, Cost{.units = -1}));
  EXPECT_FALSE(limiter.Allow(user, Cost{.units = kMaxUnits + 1}));
  EXPECT_FALSE(limiter.Refund(user, -1));
  EXPECT_FALSE(limiter.LoadYaml("rules: [{id: api, perid: 1m}]"));
  EXPECT_EQ(limiter.Peek(user)->decision.remaining, 3);
  const auto none = Limiter::FromFile("/no/such/rules.yaml");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().Text(), HasSubstr("/no/such/rules.yaml"));
}

TEST(LimiterTest, KeepsWhatIsUsedOverAReload) {
  const support::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "rules.yaml";
  std::ofstream(path) << kThreeADay;
  auto limiter = Limiter::FromFile(path.string(), {.keys = 1'000});
  ASSERT_TRUE(limiter) << limiter.error().Text();
  const std::vector<Attribute> user{{.name = "user_id", .value = "u_42"}};
  EXPECT_TRUE(limiter->Allow(user, Cost{.units = 2}));
  Limiter moved = std::move(*limiter);
  EXPECT_TRUE(moved.LoadFile(path.string()));
  EXPECT_EQ(moved.Peek(user)->decision.remaining, 1);
}

TEST(LimiterTest, IsExactUnderManyThreads) {
  Limiter limiter = LimiterOf(
      R"({rules: [{id: api, key_pattern: "user:{user_id}", algorithm: sliding_window_counter, limit: 1000, window: 30d}]})");
  std::atomic<int> allowed{0};
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 500; ++n) {
        allowed += limiter.Allow({{.name = "user_id", .value = "u_42"}}) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(allowed.load(), 1'000);
}

}  // namespace
}  // namespace sluice
