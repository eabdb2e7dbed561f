#include "insight/insight.h"

#include <cmath>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "insight/key_text.h"
#include "support/counted_new.h"
#include "support/manual_clock.h"
#include "unit/insight/zipf.h"

namespace sluice::insight {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using testing::ElementsAre;
using testing::IsEmpty;

// One decision on one user.
class OneDecision final : public DecisionList {
 public:
  OneDecision(std::string_view user, const Decision& decision)
      : part_{.attribute = "user", .value = user}, decision_(decision) {}
  [[nodiscard]] std::size_t size() const override { return 1; }
  [[nodiscard]] DecisionRecord At(std::size_t /*i*/) const override {
    return {.rule = "r", .parts = {&part_, 1}, .quota = &quota_, .decision = &decision_};
  }

 private:
  core::KeyPart part_;
  core::Quota quota_{};
  Decision decision_;
};

class InsightTest : public testing::Test {
 protected:
  void Record(std::string_view user, const Decision& decision = {.allowed = true}) {
    const OneDecision decisions(user, decision);
    insight_.Record({.now = clock_.Read().wall_clock,
                     .request_id = {},
                     .allowed = decision.allowed || decision.shadow,
                     .any_denied = !decision.allowed,
                     .attributes = {},
                     .decisions = decisions});
  }
  std::vector<std::string> Keys(std::size_t kind = kAllKinds) {
    std::vector<std::string> keys;
    for (const RuleTop& rule : insight_.Top({.kind = kind}).rules) {
      for (const RuleTop::Key& key : rule.keys) {
        keys.push_back(TextOf(PartsOf(key.counted.key)) + ":" + std::to_string(key.counted.count));
      }
    }
    return keys;
  }

  support::ManualClock clock_;
  Insight insight_{clock_};
};

TEST_F(InsightTest, TellsWhatDecisionsWere) {
  Record("a");
  Record("a", {.reason = Reason::kQuotaExceeded});
  Record("b", {.reason = Reason::kBanned});
  Record("c", {.reason = Reason::kBanned, .shadow = true});
  Record("d", {.reason = Reason::kStoreUnavailable, .shadow = true, .degraded = true});
  EXPECT_THAT(Keys(), ElementsAre("user=a:2", "user=b:1", "user=c:1"));
  EXPECT_THAT(Keys(static_cast<std::size_t>(Kind::kAllowed)), ElementsAre("user=a:1"));
  EXPECT_THAT(Keys(static_cast<std::size_t>(Kind::kDenied)), ElementsAre("user=a:1"));
  EXPECT_THAT(Keys(static_cast<std::size_t>(Kind::kBanned)), ElementsAre("user=b:1"));
  EXPECT_THAT(Keys(static_cast<std::size_t>(Kind::kShadow)), ElementsAre("user=c:1"));
}

TEST_F(InsightTest, KnowsTheWindowAndWhenAKeyCameLast) {
  clock_.Advance(10s);
  Record("a");
  const auto last = clock_.Read().wall_clock;
  clock_.Advance(25s);
  EXPECT_TRUE(insight_.Tick());
  const Insight::TopReading top = insight_.Top({});
  EXPECT_EQ(top.covered, 35s);
  EXPECT_EQ(top.now, clock_.Read().wall_clock);
  EXPECT_EQ(top.rules.at(0).keys.at(0).counted.last, last);
  insight_.KeepRules([](std::string_view /*rule*/) { return false; });
  EXPECT_THAT(Keys(), IsEmpty());
}

TEST_F(InsightTest, ThreadsLoseNothing) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < 900; ++i) {
        Record(std::to_string(i % 3));
      }
    });
  }
  (void)insight_.Tick();
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_THAT(Keys(), ElementsAre("user=0:1200", "user=1:1200", "user=2:1200"));
  EXPECT_EQ(insight_.lost(), 0U);
}

TEST_F(InsightTest, RecordingAllocatesNothing) {
  Record("a");
  const std::int64_t before = support::AllocationsOfThisThread();
  for (int i = 0; i < 10'000; ++i) {
    Record("b", {.reason = Reason::kQuotaExceeded});
  }
  EXPECT_EQ(support::AllocationsOfThisThread() - before, 0);
}

// A million requests between two ticks, which is far more than the ring holds, then a steady rate.
TEST_F(InsightTest, AFloodIsSampledWithinItsBoundsAndNotLost) {
  Zipf zipf(10'000, 1.1, 7);
  std::map<std::string, std::uint64_t> exact;
  constexpr int kTicks = 5;
  constexpr int kEach = 200'000;
  for (int tick = 0; tick < kTicks; ++tick) {
    for (int i = 0; i < kEach; ++i) {
      const std::string user = std::to_string(zipf.Next());
      ++exact["user=" + user];
      Record(user);
    }
    (void)insight_.Tick();
  }
  EXPECT_EQ(insight_.lost(), 0U);
  const auto top = insight_.Top({.most = 5}).rules.at(0);
  EXPECT_NEAR(static_cast<double>(top.totals[kAllKinds]), kTicks * kEach, 0.2 * kTicks * kEach);
  for (const RuleTop::Key& key : top.keys) {
    const std::uint64_t count = exact[TextOf(PartsOf(key.counted.key))];
    // The seeds of a thread's samples are not fixed. Three more standard deviations: one run in
    // 10^8.
    const double slack = 3 * std::sqrt(key.counted.variance);
    EXPECT_LE(static_cast<double>(key.counted.AtLeast()), static_cast<double>(count) + slack);
    EXPECT_GE(static_cast<double>(key.counted.AtMost()), static_cast<double>(count) - slack);
  }
}

TEST_F(InsightTest, AfterAFloodEveryRequestCountsAgain) {
  for (int i = 0; i < 100'000; ++i) {
    Record("flood", {.reason = Reason::kQuotaExceeded});
  }
  (void)insight_.Tick();
  (void)insight_.Tick();  // Silence.
  Record("one", {.reason = Reason::kQuotaExceeded});
  EXPECT_THAT(Keys(), testing::Contains("user=one:1"));
}

}  // namespace
}  // namespace sluice::insight
