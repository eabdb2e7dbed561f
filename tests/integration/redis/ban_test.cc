#include <array>
#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "support/redis_store_fixture.h"
#include "support/store_calls.h"

// Bans in a real server, by its own clock, shared by the nodes that ask it.
namespace sluice::redis {
namespace {

using core::Algorithm;
using store::StoreError;
using support::Answered;
using support::LoopedRedisStore;
using support::OwnedCheckCall;
using support::OwnedKey;
using support::QuotaOf;
using support::RedisServer;

constexpr core::Ban kBan{
    .after = 3, .within = std::chrono::hours(1), .lasts = std::chrono::minutes(15)};

class RedisBanTest : public ::testing::Test {
 protected:
  RedisBanTest() {
    for (auto& node : nodes_) {
      node = std::make_unique<LoopedRedisStore>(support::PatientSettings(server_), clock_);
      node->RunUntilUp();
    }
  }

  static Decision Ask(LoopedRedisStore& node, const OwnedKey& key, const core::Quota& quota,
                      bool peek = false) {
    OwnedCheckCall call;
    call.Add({.key = key.view(), .quota = quota, .cost = {}, .ban = &kBan});
    call.peek = peek;
    store::CheckCall* const one = &call;
    node.store().CheckMany({&one, 1});
    node.RunUntilIdle();
    EXPECT_EQ(call.error, StoreError::kNone) << node.events();
    return call.own_answers[0].decision;
  }
  static void Ban(LoopedRedisStore& node, const OwnedKey& key) {
    Answered<store::BanCall> call;
    call.key = key.view();
    call.duration = std::chrono::minutes(1);
    node.store().Ban(call);
    node.RunUntilIdle();
    EXPECT_EQ(call.error, StoreError::kNone) << node.events();
  }
  static StoreError Unban(LoopedRedisStore& node, const OwnedKey& key) {
    Answered<store::BanCall> call;
    call.key = key.view();
    node.store().Unban(call);
    node.RunUntilIdle();
    return call.error;
  }
  void List() {
    one().store().ListBans(list_);
    one().RunUntil([&] { return list_.answers_got == 1; });
    list_.answers_got = 0;
  }
  LoopedRedisStore& one() { return *nodes_[0]; }
  LoopedRedisStore& other() { return *nodes_[1]; }

  base::SystemClock clock_;
  RedisServer server_;
  std::array<std::unique_ptr<LoopedRedisStore>, 2> nodes_;
  Answered<store::BansCall> list_;
};

TEST_F(RedisBanTest, DenialsByAnyNodeBanAKeyForAll) {
  const OwnedKey key("u");
  const core::Quota quota = QuotaOf(Algorithm::kGcra, 1);
  EXPECT_TRUE(Ask(one(), key, quota).allowed);
  EXPECT_EQ(Ask(one(), key, quota).reason, Reason::kQuotaExceeded);
  EXPECT_EQ(Ask(other(), key, quota).reason, Reason::kQuotaExceeded);
  const std::string denials = server_.Run({"KEYS", "*:denials:*"});
  EXPECT_TRUE(denials.ends_with("}:r:denials:user_id=u")) << denials;
  EXPECT_GT(std::stol(server_.Run({"PTTL", denials})), 3'500'000);
  EXPECT_EQ(Ask(one(), key, quota).reason, Reason::kQuotaExceeded);  // The third.
  EXPECT_EQ(Ask(one(), key, quota).reason, Reason::kBanned);
  const Decision banned = Ask(other(), key, quota, /*peek=*/true);
  EXPECT_EQ(banned.reason, Reason::kBanned);
  EXPECT_GT(banned.retry_after, std::chrono::minutes(59));  // The limit's, which is longer.
  EXPECT_LE(banned.retry_after, std::chrono::hours(1));
  const std::string ban = server_.Run({"KEYS", "*:ban:*"});
  EXPECT_TRUE(ban.ends_with("}:r:ban:user_id=u")) << ban;
  EXPECT_GT(std::stol(server_.Run({"PTTL", ban})), 14 * 60'000);
  EXPECT_EQ(server_.Run({"EXISTS", denials}), "0");
  EXPECT_EQ(one().store().metrics().Read(RedisCount::kBans), 1U);
  EXPECT_EQ(other().store().metrics().Read(RedisCount::kBans), 0U);
  EXPECT_EQ(Unban(other(), key), StoreError::kNone);
  EXPECT_EQ(Ask(one(), key, quota).reason, Reason::kQuotaExceeded);
}

TEST_F(RedisBanTest, WhatIsUnlimitedCanBeBannedAllTheSame) {
  const OwnedKey key("u");
  const OwnedKey limited("v");
  core::Quota unlimited = QuotaOf(Algorithm::kConcurrency, 1);
  unlimited.unlimited = true;
  EXPECT_TRUE(Ask(one(), key, unlimited).allowed);
  EXPECT_EQ(Ask(one(), key, unlimited).remaining, kUnlimited);
  Ban(one(), key);
  for (const Units remaining : {4, 4}) {
    OwnedCheckCall call;
    call.Add({.key = key.view(), .quota = unlimited, .cost = {}, .ban = &kBan});
    call.Add({.key = limited.view(), .quota = QuotaOf(Algorithm::kGcra, 4), .cost = {}});
    store::CheckCall* const batch = &call;
    one().store().CheckMany({&batch, 1});
    one().RunUntilIdle();
    EXPECT_EQ(call.own_answers[0].decision.reason, Reason::kBanned);
    EXPECT_EQ(call.own_answers[0].decision.limit, kUnlimited);
    EXPECT_FALSE(call.own_answers[1].charged);
    EXPECT_EQ(call.own_answers[1].decision.remaining, remaining);
  }
}

TEST_F(RedisBanTest, BansAreFoundAmongManyKeysAndNamedInFull) {
  server_.Run({"DEBUG", "POPULATE", "3000", "sl1:{ab}:r:gcra,60000:user_id"});
  server_.Run({"SET", "sl1:{ab}:r:ban:user_id=broken", "something else"});
  server_.Run({"LPUSH", "sl1:{ab}:r:ban:user_id=list", "something else"});
  const std::string odd("\0 a,b=c%~#", 10);
  for (int i = 0; i < 30; ++i) {
    Ban(one(), OwnedKey(std::to_string(i)));
  }
  Ban(one(), OwnedKey(odd));
  Ban(one(), OwnedKey(std::string(700, 'x')));
  Ban(one(), OwnedKey(std::string(5000, 'x'), "long"));
  List();
  EXPECT_EQ(list_.error, StoreError::kNone) << one().events();
  ASSERT_EQ(list_.bans.size(), 33U);
  int whole = 0;
  for (const store::BannedKey& ban : list_.bans) {
    EXPECT_GT(ban.until - list_.now, std::chrono::seconds(30));
    EXPECT_LE(ban.since, list_.now);
    if (ban.key.rule() == "long") {
      EXPECT_TRUE(ban.key.parts().empty());
      continue;
    }
    ASSERT_EQ(ban.key.parts().size(), 1U);
    EXPECT_EQ(ban.key.parts()[0].attribute, "user_id");
    const std::string_view value = ban.key.parts()[0].value;
    whole += value == odd || value == std::string(700, 'x') || value == "29" ? 1 : 0;
  }
  EXPECT_EQ(whole, 3);
}

TEST_F(RedisBanTest, AListThatCannotBeWholeIsAnError) {
  Ban(one(), OwnedKey("u"));
  server_.Kill();
  List();
  EXPECT_NE(list_.error, StoreError::kNone);
  EXPECT_TRUE(list_.bans.empty());
  EXPECT_TRUE(one().route().idle());
}

}  // namespace
}  // namespace sluice::redis
