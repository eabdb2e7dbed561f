#include "service/fallback.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/shape.h"
#include "store/table.h"
#include "support/manual_clock.h"
#include "unit/service/service_fixture.h"

namespace sluice::service {
namespace {

using std::chrono::minutes;
using store::StoreError;

// A service over a store that is away when the test says so.
class FallbackTest : public ::testing::Test {
 protected:
  FallbackTest() {
    auto table =
        store::Table::Create({.path = {}, .keys = 1000, .blocks = 100, .huge_pages = false}, clock);
    local = *std::move(table);
    fallback = std::make_unique<Fallback>(*local, nodes);
    service = std::make_unique<LimiterService>(store, metrics, fallback.get());
  }

  void Load(const std::string& rules) { service->SetRules(RulesOf("rules:\n" + rules)); }
  void GoAway() { store.call_error = StoreError::kUnavailable; }

  bool Decide(TestCheck& call) {
    service->Submit(call.operation);
    EXPECT_TRUE(call.verdict.request_error.empty()) << call.verdict.request_error;
    return call.verdict.allowed;
  }
  bool Decide() {
    TestCheck call;
    return Decide(call);
  }
  static Decision Denial(Duration wait) {
    return {.reason = Reason::kQuotaExceeded,
            .limit = 10,
            .remaining = 2,
            .retry_after = wait,
            .reset_after = wait};
  }
  void Answer(const Decision& decision) {
    store.script = [decision](const store::Check&) {
      return store::CheckAnswer{.decision = decision, .charged = decision.allowed};
    };
  }

  support::ManualClock clock;
  support::ScriptedStore store;
  ServiceMetrics metrics;
  std::unique_ptr<store::Table> local;
  std::atomic<int> nodes{1};
  std::unique_ptr<Fallback> fallback;
  std::unique_ptr<LimiterService> service;
};

TEST_F(FallbackTest, LocalRulesGoOnLimitingInTheTableOfThisNode) {
  Load(RuleText("r", ", on_store_error: local"));
  GoAway();
  for (int i = 0; i < 10; ++i) {
    TestCheck call;
    EXPECT_TRUE(Decide(call)) << i;
    EXPECT_TRUE(call.verdict.decisions[0].decision.degraded);
    EXPECT_TRUE(call.verdict.decisions[0].charged);
    EXPECT_EQ(call.verdict.decisions[0].decision.remaining, 9 - i);
  }
  TestCheck denied;
  EXPECT_FALSE(Decide(denied));
  EXPECT_EQ(denied.verdict.decisions[0].decision.reason, Reason::kQuotaExceeded);
  EXPECT_EQ(metrics.Count("r", Outcome::kDegradedLocal), 11U);
}

TEST_F(FallbackTest, EachNodeHasItsShareRoundedUp) {
  nodes = 3;
  Load(RuleText("r", ", on_store_error: local"));
  GoAway();
  int allowed = 0;
  for (int i = 0; i < 10; ++i) {
    allowed += Decide() ? 1 : 0;
  }
  EXPECT_EQ(allowed, 4);
}

TEST_F(FallbackTest, WhatWasUsedStaysUsedWhenTheStoreComesAndGoes) {
  Load(RuleText("r", ", on_store_error: local"));
  GoAway();
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(Decide());
  }
  store.call_error = StoreError::kNone;
  EXPECT_TRUE(Decide());
  GoAway();
  EXPECT_FALSE(Decide());
}

TEST_F(FallbackTest, ADenialByAnotherRuleChargesNothingLocally) {
  Load(RuleText("here", ", on_store_error: local") + RuleText("shut", ", on_store_error: deny"));
  GoAway();
  for (int i = 0; i < 20; ++i) {
    TestCheck call;
    EXPECT_FALSE(Decide(call));
    EXPECT_TRUE(call.verdict.decisions[0].decision.allowed);
    EXPECT_FALSE(call.verdict.decisions[0].charged);
    EXPECT_EQ(call.verdict.decisions[0].decision.remaining, 10);
  }
}

TEST_F(FallbackTest, TwoLocalRulesAreChargedTogetherOrNotAtAll) {
  Load(RuleText("large", ", on_store_error: local, burst: 20") +
       RuleText("small", ", on_store_error: local, burst: 2"));
  GoAway();
  for (int i = 0; i < 5; ++i) {
    (void)Decide();
  }
  TestCheck call;
  EXPECT_FALSE(Decide(call));
  EXPECT_EQ(call.verdict.decisions[0].decision.remaining, 18);
}

// A part of the store is away: what the other part charged goes back where this node then denies.
TEST_F(FallbackTest, WhatTheStoreChargedGoesBackWhereThisNodeDenies) {
  for (const std::string policy : {"deny", "local"}) {
    SCOPED_TRACE(policy);
    Load(RuleText("away", ", on_store_error: " + policy + ", burst: 2") + RuleText("near") +
         "  - {id: held, key_pattern: '{user_id}', algorithm: concurrency, limit: 5, hold_ttl: "
         "1m}\n" +
         RuleText("shadowed", ", mode: shadow"));
    store.script = [](const store::Check& check) {
      const bool away = check.key.rule == "away";
      return store::CheckAnswer{.error = away ? StoreError::kUnavailable : StoreError::kNone,
                                .decision = {.allowed = true, .limit = 10, .remaining = 9},
                                .charged = !away,
                                .hold = check.key.rule == "held" ? 7U : 0U};
    };
    if (policy == "local") {
      EXPECT_TRUE(Decide());
      EXPECT_TRUE(Decide());
      EXPECT_TRUE(store.verbs.empty());  // Nothing of what is allowed.
    }
    TestCheck call;
    EXPECT_FALSE(Decide(call));
    EXPECT_EQ(store.verbs, (std::vector<std::string>{"refund near 1", "release held formerly  7",
                                                     "refund shadowed 1"}));
    for (const RuleDecision& decision : call.verdict.decisions) {
      EXPECT_FALSE(decision.charged);
      EXPECT_EQ(decision.hold, 0U);
    }
    EXPECT_EQ(call.verdict.decisions[1].decision.remaining, 10);
    store.verbs.clear();
  }
}

TEST_F(FallbackTest, ADenialStaysInForceWhileTheStoreIsAway) {
  Load(RuleText("r"));
  Answer(Denial(minutes(5)));
  EXPECT_FALSE(Decide());
  GoAway();
  TestCheck again;
  EXPECT_FALSE(Decide(again));
  const Decision& decision = again.verdict.decisions[0].decision;
  EXPECT_TRUE(decision.degraded);
  EXPECT_EQ(decision.reason, Reason::kQuotaExceeded);
  EXPECT_EQ(decision.remaining, 2);
  EXPECT_LE(decision.retry_after, minutes(5));
  EXPECT_GT(decision.retry_after, minutes(4));
  EXPECT_EQ(metrics.Count("r", Outcome::kDegradedDenied), 1U);
  TestCheck other({.name = "user_id", .value = "b"});
  EXPECT_TRUE(Decide(other));
}

TEST_F(FallbackTest, ADenialOfManyUnitsSaysNothingOfFewer) {
  Load(RuleText("r"));
  Answer(Denial(minutes(5)));
  TestCheck many;
  many.check.cost = Cost{5};
  EXPECT_FALSE(Decide(many));
  GoAway();
  EXPECT_TRUE(Decide());
  TestCheck more;
  more.check.cost = Cost{6};
  EXPECT_FALSE(Decide(more));
}

TEST_F(FallbackTest, AChangedQuotaARefundOrAResetEndWhatIsRemembered) {
  Load(RuleText("r"));
  Answer(Denial(minutes(5)));
  EXPECT_FALSE(Decide());
  GoAway();
  Load(RuleText("r", ", burst: 11"));
  EXPECT_TRUE(Decide());
  Load(RuleText("r"));
  EXPECT_FALSE(Decide());
  TestOperation reset;
  const Attribute user{.name = "user_id", .value = "a"};
  auto& change = reset.operation.Ask<KeyChange>();
  change.kind = KeyChange::Kind::kReset;
  change.attributes = {&user, 1};
  service->Submit(reset.operation);
  EXPECT_TRUE(Decide());
}

// With Redis as the store it is Redis that remembers resets: they take no room here.
TEST_F(FallbackTest, AResetLeavesNothingInTheTableOfThisNode) {
  Load(RuleText("r", ", on_store_error: local"));
  TestOperation reset;
  const Attribute user{.name = "user_id", .value = "a"};
  auto& change = reset.operation.Ask<KeyChange>();
  change.kind = KeyChange::Kind::kReset;
  change.attributes = {&user, 1};
  service->Submit(reset.operation);
  EXPECT_EQ(local->Stats().inserts, 0U);
  GoAway();
  EXPECT_TRUE(Decide());
  service->Submit(reset.operation);
  EXPECT_EQ(local->Stats().inserts, 1U);
  EXPECT_EQ(local->Stats().live_slots, 0U);
}

// What a client gives back counts as an operator's refund does; what it takes does not.
TEST_F(FallbackTest, ASettlementThatGivesBackEndsWhatIsRemembered) {
  Load(RuleText("r"));
  TestOperation call;
  const core::KeyPart part{.attribute = "user_id", .value = "a"};
  const auto settle = [&](Units units, StoreError error) {
    store.call_error = StoreError::kNone;
    Answer(Denial(minutes(5)));
    EXPECT_FALSE(Decide());
    auto& settlement = call.operation.Ask<Settlement>();
    settlement.charges.push_back(
        {.key = core::Key({.rule = "r", .formerly = {}, .parts = {&part, 1}}),
         .made = {.receipt = {.nonce = 1},
                  .units = 3,
                  .shape = core::ShapeDigest(service->Rules()->Find("r")->quota)}});
    settlement.cost = units;
    store.call_error = error;
    service->Submit(call.operation);
    GoAway();
    return Decide();
  };
  EXPECT_TRUE(settle(2, StoreError::kNone));
  EXPECT_FALSE(settle(3, StoreError::kNone));
  EXPECT_FALSE(settle(4, StoreError::kNone));
  EXPECT_FALSE(settle(2, StoreError::kNotFound));
  EXPECT_FALSE(settle(2, StoreError::kUnavailable));
}

TEST_F(FallbackTest, ABanIsLiftedHereToo) {
  Load(RuleText("r", ", on_store_error: local, ban: {after: 1, within: 1m, for: 15m}"));
  GoAway();
  for (int i = 0; i < 11; ++i) {
    (void)Decide();  // The last is denied: that bans.
  }
  TestCheck banned;
  EXPECT_FALSE(Decide(banned));
  EXPECT_EQ(banned.verdict.decisions[0].decision.reason, Reason::kBanned);
  TestOperation unban;
  const Attribute user{.name = "user_id", .value = "a"};
  auto& change = unban.operation.Ask<KeyChange>();
  change.kind = KeyChange::Kind::kUnban;
  change.attributes = {&user, 1};
  service->Submit(unban.operation);
  TestCheck denied;
  EXPECT_FALSE(Decide(denied));
  EXPECT_EQ(denied.verdict.decisions[0].decision.reason, Reason::kQuotaExceeded);
}

TEST_F(FallbackTest, LocalHoldsAreGivenBackLocally) {
  Load(
      "  - {id: r, key_pattern: \"user:{user_id}\", algorithm: concurrency, limit: 1, "
      "hold_ttl: 1m, on_store_error: local}\n");
  GoAway();
  TestCheck call;
  EXPECT_TRUE(Decide(call));
  EXPECT_FALSE(Decide());
  TestOperation call_of_holder;
  auto& release = call_of_holder.operation.Ask<HoldChange>();
  const core::KeyPart part{.attribute = "user_id", .value = "a"};
  release.holds.push_back({.key = core::Key({.rule = "r", .formerly = {}, .parts = {&part, 1}}),
                           .hold = {.id = call.verdict.decisions[0].hold}});
  service->Submit(call_of_holder.operation);
  EXPECT_EQ(call_of_holder.completed, 1);
  EXPECT_EQ(release.done, 1U);
  EXPECT_EQ(release.failure, StoreError::kNone);
  EXPECT_TRUE(store.verbs.empty());
  EXPECT_TRUE(Decide());
}

TEST(DenialMemoryTest, ForgetsWhatIsOverAndNeverMixesKeys) {
  DenialMemory memory(8);
  const DenialMemory::Time now{std::chrono::hours(1)};
  core::Quota quota;
  quota.limit = quota.rate = 10;
  quota.window = minutes(1);
  const Decision denial{.reason = Reason::kQuotaExceeded, .retry_after = minutes(1)};
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) {
    names.push_back("user" + std::to_string(i));
  }
  const auto key_of = [](const core::KeyPart& part) {
    return core::KeyView{.rule = "r", .formerly = {}, .parts = {&part, 1}};
  };
  for (const std::string& name : names) {
    const core::KeyPart part{.attribute = "u", .value = name};
    EXPECT_FALSE(memory.Find(key_of(part), quota, Cost{1}, now)) << name;
    memory.Remember(key_of(part), quota, Cost{1}, denial, now);
    EXPECT_TRUE(memory.Find(key_of(part), quota, Cost{1}, now + minutes(1) - Duration(1)));
    EXPECT_FALSE(memory.Find(key_of(part), quota, Cost{1}, now + minutes(1)));
  }
  const Decision never{.reason = Reason::kLimitZero, .retry_after = Decision::kNever};
  const core::KeyPart part{.attribute = "u", .value = "zero"};
  memory.Remember(key_of(part), quota, Cost{1}, never, now);
  EXPECT_FALSE(memory.Find(key_of(part), quota, Cost{1}, now));
}

}  // namespace
}  // namespace sluice::service
