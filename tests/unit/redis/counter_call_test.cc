#include "redis/counter_call.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "redis/channel.h"
#include "support/manual_clock.h"
#include "support/store_calls.h"
#include "wire/resp_command_parser.h"

// Counters on their way: what a server sees of them, and what becomes of its replies.
namespace sluice::redis {
namespace {

using std::chrono::milliseconds;
using store::StoreError;
using Call = support::Answered<CounterCall>;
using Commands = std::vector<std::vector<std::string>>;

class CounterCallTest : public ::testing::Test {
 protected:
  CounterCallTest() { Open({}); }

  void Open(const ChannelSettings& settings) {
    channel_ = std::make_unique<Channel>(
        settings, clock_, metrics_,
        [this](bool, const std::string& text) { events_ += text + "\n"; }, 1);
    channel_->OnDialing();
    channel_->OnConnected({}, now_);
    greeting_ = Sent();
    Reply(settings.terse ? "+PONG\r\n" : "+OK\r\n+PONG\r\n");
    ASSERT_TRUE(channel_->up());
  }

  Call& Ask(CounterCall::Verb verb, const std::string& key, Units hits,
            const void* request = nullptr) {
    calls_.push_back(std::make_unique<Call>());
    Call& call = *calls_.back();
    call.verb = verb;
    call.key = key;
    call.hits = hits;
    call.expiry_s = 60;
    call.request = request == nullptr ? &call : request;
    channel_->Send(Request::Of<CounterVerb>(call), now_);
    return call;
  }

  Commands Sent() {
    std::string bytes;
    channel_->TakeOutput(bytes);
    parser_.Append(bytes);
    Commands commands;
    while (parser_.Next() == wire::RespCommandParser::Event::kCommand) {
      commands.emplace_back();
      for (const std::string_view arg : parser_.args()) {
        commands.back().emplace_back(arg);
      }
    }
    return commands;
  }
  void Reply(std::string_view bytes) { channel_->OnInput(bytes, now_); }
  void Pass(Duration by) {
    now_ += by;
    channel_->OnWake(now_);
  }

  support::ManualClock clock_;
  RedisMetrics metrics_;
  std::vector<std::unique_ptr<Call>> calls_;
  std::string events_;
  Commands greeting_;
  wire::RespCommandParser parser_{{}};
  std::unique_ptr<Channel> channel_;
  Channel::Time now_ = Channel::Time() + std::chrono::hours(1);
};

TEST_F(CounterCallTest, AddsAndSetsAnExpiryWithoutAnyScript) {
  Open({.expiry_jitter_s = 0});
  const Call& call = Ask(CounterCall::Verb::kAdd, "d_k_v_60", 3);
  EXPECT_EQ(Sent(), (Commands{{"INCRBY", "d_k_v_60", "3"}, {"EXPIRE", "d_k_v_60", "60"}}));
  Reply(":7\r\n");
  EXPECT_EQ(call.answers_got, 1);
  EXPECT_EQ(call.error, StoreError::kNone);
  EXPECT_EQ(call.count, 7);
  EXPECT_FALSE(channel_->idle());
  Reply(":1\r\n");
  EXPECT_TRUE(channel_->idle());
}

TEST_F(CounterCallTest, DrawsHowMuchLongerACounterLivesAnewEachTime) {
  Open({.expiry_jitter_s = 5});
  std::set<std::string> drawn;
  for (int i = 0; i < 200; ++i) {
    (void)Ask(CounterCall::Verb::kAdd, "k", 0);
    drawn.insert(Sent().at(1).at(2));
    Reply(":0\r\n:1\r\n");
  }
  EXPECT_EQ(drawn, (std::set<std::string>{"60", "61", "62", "63", "64"}));
}

TEST_F(CounterCallTest, ReadsACounterThatMayNotBeThere) {
  const Call& there = Ask(CounterCall::Verb::kRead, "a", 0);
  const Call& none = Ask(CounterCall::Verb::kRead, "b", 0);
  const Call& odd = Ask(CounterCall::Verb::kRead, "c", 0);
  EXPECT_EQ(Sent(), (Commands{{"GET", "a"}, {"GET", "b"}, {"GET", "c"}}));
  Reply("$2\r\n12\r\n$-1\r\n$3\r\n1x2\r\n");
  EXPECT_EQ(there.count, 12);
  EXPECT_EQ(none.count, 0);
  EXPECT_EQ(none.error, StoreError::kNone);
  EXPECT_EQ(odd.error, StoreError::kUnavailable);
  EXPECT_NE(events_.find("not a number"), std::string::npos);
}

TEST_F(CounterCallTest, TakesHitsBackInOneCommand) {
  const Call& call = Ask(CounterCall::Verb::kTakeBack, "k", 4);
  const Commands sent = Sent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0][0], "EVAL");
  EXPECT_EQ((std::vector<std::string>(sent[0].begin() + 2, sent[0].end())),
            (std::vector<std::string>{"1", "k", "4"}));
  Reply(":0\r\n");
  EXPECT_EQ(call.error, StoreError::kNone);
}

TEST_F(CounterCallTest, ACounterTooHighToAddToIsOverEveryLimit) {
  const Call& call = Ask(CounterCall::Verb::kAdd, "k", 1);
  (void)Sent();
  Reply("-ERR increment or decrement would overflow\r\n:1\r\n");
  EXPECT_EQ(call.error, StoreError::kNone);
  EXPECT_GT(call.count, kMaxUnits);
}

TEST_F(CounterCallTest, WhatIsNoCounterIsAnError) {
  const Call& call = Ask(CounterCall::Verb::kAdd, "k", 1);
  (void)Sent();
  Reply("-WRONGTYPE Operation against a key holding the wrong kind of value\r\n:1\r\n");
  EXPECT_EQ(call.error, StoreError::kDidNotRun);
}

TEST_F(CounterCallTest, AnExpiryThatIsNotAllowedIsTold) {
  const Call& call = Ask(CounterCall::Verb::kAdd, "k", 1);
  (void)Sent();
  Reply(":1\r\n-NOPERM this user has no permissions to run the 'expire' command\r\n");
  EXPECT_EQ(call.count, 1);
  EXPECT_NE(events_.find("NOPERM"), std::string::npos);
}

TEST_F(CounterCallTest, OneRequestOfManyCountersIsOneFailure) {
  Open({.deadline = milliseconds(10), .breaker_failures = 3});
  const int one = 0;
  const int two = 0;
  for (const int* const request : {&one, &two}) {
    for (int i = 0; i < 8; ++i) {
      (void)Ask(CounterCall::Verb::kAdd, "k", 1, request);
    }
  }
  Pass(milliseconds(11));
  EXPECT_EQ(calls_.back()->error, StoreError::kUnavailable);
  EXPECT_FALSE(channel_->breaker_open());
  (void)Ask(CounterCall::Verb::kAdd, "k", 1);
  Pass(milliseconds(11));
  EXPECT_TRUE(channel_->breaker_open());
}

TEST_F(CounterCallTest, WhatWasNotHandedOutIsSentAgainWithItsExpiry) {
  Open({.expiry_jitter_s = 0});
  const Call& sent = Ask(CounterCall::Verb::kAdd, "sent", 1);
  (void)Sent();
  const Call& unsent = Ask(CounterCall::Verb::kAdd, "unsent", 1);
  channel_->OnLost("gone", now_);
  EXPECT_EQ(sent.error, StoreError::kUnavailable);
  EXPECT_EQ(unsent.answers_got, 0);
  channel_->OnDialing();
  channel_->OnConnected({}, now_);
  (void)Sent();
  Reply("+OK\r\n+PONG\r\n");
  EXPECT_EQ(Sent(), (Commands{{"INCRBY", "unsent", "1"}, {"EXPIRE", "unsent", "60"}}));
  Reply(":1\r\n:1\r\n");
  EXPECT_EQ(unsent.error, StoreError::kNone);
}

// Hits that were counted after all belong to a request that went its way: they stay.
TEST_F(CounterCallTest, ALateCountIsNotTakenBack) {
  (void)Ask(CounterCall::Verb::kAdd, "k", 1);
  (void)Sent();
  Pass(std::chrono::seconds(1));
  Reply(":1\r\n:1\r\n");
  EXPECT_EQ(Sent(), Commands{});
}

TEST_F(CounterCallTest, ATerseChannelSaysNothingButPing) {
  Open({.terse = true});
  EXPECT_EQ(greeting_, (Commands{{"PING"}}));
}

}  // namespace
}  // namespace sluice::redis
