#include "redis/channel.h"

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "redis/check_request.h"
#include "support/manual_clock.h"
#include "support/store_calls.h"
#include "wire/resp_command_parser.h"

namespace sluice::redis {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using store::StoreError;
using support::Answered;
using support::OwnedCheckCall;
using support::OwnedKey;

core::Quota Ten() {
  core::Quota quota;
  quota.algorithm = core::Algorithm::kGcra;
  quota.limit = quota.rate = 10;
  quota.window = seconds(1);
  return quota;
}

// A channel, and what a server would see of it.
class ChannelTest : public ::testing::Test {
 protected:
  ChannelTest()
      : key_("k"), channel_(Settings(), clock_, metrics_, [](bool, const std::string&) {}, 1) {
    // Lengths of arguments are looked at in whole: scripts are longer than a front end's limit.
    parser_.SetLimits({.arguments = 1024, .command_bytes = 1024 * 1024});
  }

  static ChannelSettings Settings() {
    ChannelSettings settings;
    settings.most_in_flight = 100;
    return settings;
  }

  void Connect() {
    ASSERT_TRUE(channel_.WantsDial(now_));
    channel_.OnDialing();
    channel_.OnConnected({}, now_);
    (void)Sent();
    Reply("+OK\r\n+PONG\r\n");
    ASSERT_TRUE(channel_.up());
  }

  void Ask(OwnedCheckCall& call, Units cost = 1) {
    call.Add({.key = key_.view(), .quota = Ten(), .cost = Cost{cost}});
    channel_.Send(Request::Of<CheckVerb>(call), now_);
  }

  // The first words of all commands that were sent since.
  std::vector<std::string> Sent() {
    std::string bytes;
    channel_.TakeOutput(bytes);
    parser_.Append(bytes);
    std::vector<std::string> commands;
    while (parser_.Next() == wire::RespCommandParser::Event::kCommand) {
      commands.emplace_back(parser_.args()[0]);
      last_.clear();
      for (const std::string_view arg : parser_.args()) {
        last_.emplace_back(arg);
      }
    }
    return commands;
  }

  void Reply(std::string_view bytes) { channel_.OnInput(bytes, now_); }
  void Pass(Duration by) {
    now_ += by;
    channel_.OnWake(now_);
  }

  // Calls outlive the channel, which answers those that are left.
  OwnedCheckCall& NewCall() { return NewCalls(1)[0]; }
  std::vector<OwnedCheckCall>& NewCalls(std::size_t count) { return calls_.emplace_back(count); }

  static constexpr std::string_view kLoaded = "$3\r\nsha\r\n";
  static constexpr std::string_view kTime = "*2\r\n$10\r\n1700000000\r\n$6\r\n250000\r\n";
  static constexpr std::string_view kCharged =
      "*5\r\n:1700000000000000\r\n:-1\r\n:9\r\n:100000\r\n:0\r\n";

  support::ManualClock clock_;
  RedisMetrics metrics_;
  OwnedKey key_;
  std::deque<std::vector<OwnedCheckCall>> calls_;
  Channel channel_;
  Channel::Time now_ = Channel::Time() + std::chrono::hours(1);
  wire::RespCommandParser parser_{{}};
  std::vector<std::string> last_;  // The arguments of the last command that was sent.
};

TEST_F(ChannelTest, LoadsAScriptOnceBeforeItsFirstUse) {
  Connect();
  OwnedCheckCall& one = NewCall();
  OwnedCheckCall& two = NewCall();
  Ask(one);
  Ask(two);
  EXPECT_EQ(Sent(), (std::vector<std::string>{"SCRIPT", "EVALSHA", "EVALSHA"}));
  Reply(std::string(kLoaded) + std::string(kCharged) + std::string(kCharged));
  EXPECT_EQ(one.answers_got, 1);
  EXPECT_EQ(two.answers_got, 1);
  EXPECT_TRUE(two.own_answers[0].charged);
  EXPECT_EQ(two.own_answers[0].decision.remaining, 9);
  EXPECT_EQ(two.own_answers[0].decision.reset_after, milliseconds(100));
  EXPECT_TRUE(channel_.idle());
}

TEST_F(ChannelTest, RepliesInPiecesBelongToTheirCalls) {
  Connect();
  std::vector<OwnedCheckCall>& calls = NewCalls(3);
  for (OwnedCheckCall& call : calls) {
    Ask(call);
  }
  (void)Sent();
  std::string replies(kLoaded);
  for (const std::string_view remaining : {"7", "5", "3"}) {
    replies += "*5\r\n:1700000000000000\r\n:-1\r\n:" + std::string(remaining) + "\r\n:1\r\n:0\r\n";
  }
  for (const char byte : replies) {
    Reply({&byte, 1});
  }
  EXPECT_EQ(calls[0].own_answers[0].decision.remaining, 7);
  EXPECT_EQ(calls[1].own_answers[0].decision.remaining, 5);
  EXPECT_EQ(calls[2].own_answers[0].decision.remaining, 3);
}

TEST_F(ChannelTest, AScriptThatWasFlushedIsLoadedOnceAndItsCallsAreSentAgain) {
  Connect();
  OwnedCheckCall& first = NewCall();
  Ask(first);
  (void)Sent();
  Reply(std::string(kLoaded) + std::string(kCharged));
  std::vector<OwnedCheckCall>& calls = NewCalls(3);
  for (OwnedCheckCall& call : calls) {
    Ask(call);
  }
  EXPECT_EQ(Sent().size(), 3U);
  for (int i = 0; i < 3; ++i) {
    Reply("-NOSCRIPT No matching script.\r\n");
  }
  EXPECT_EQ(Sent(), (std::vector<std::string>{"SCRIPT", "EVALSHA", "EVALSHA", "EVALSHA"}));
  Reply(kLoaded);
  for (const OwnedCheckCall& call : calls) {
    EXPECT_EQ(call.answers_got, 0);
    Reply(kCharged);
    EXPECT_EQ(call.answers_got, 1);
    EXPECT_EQ(call.error, StoreError::kNone);
  }
}

TEST_F(ChannelTest, AScriptThatCannotBeLoadedDoesNotGoRoundForEver) {
  Connect();
  OwnedCheckCall& call = NewCall();
  Ask(call);
  for (int i = 0; i < 20 && call.answers_got == 0; ++i) {
    for (const std::string& command : Sent()) {
      Reply(command == "SCRIPT" ? "-NOPERM no\r\n" : "-NOSCRIPT none\r\n");
    }
  }
  EXPECT_EQ(call.answers_got, 1);
  EXPECT_EQ(call.error, StoreError::kDidNotRun);
}

TEST_F(ChannelTest, ACallThatIsOutOfTimeIsAnsweredAndItsChargeComesBack) {
  Connect();
  OwnedCheckCall& call = NewCall();
  Ask(call, 3);
  (void)Sent();
  Pass(milliseconds(9));
  EXPECT_EQ(call.answers_got, 0);
  Pass(milliseconds(1));
  EXPECT_EQ(call.answers_got, 1);
  EXPECT_EQ(call.error, StoreError::kUnavailable);
  Reply(std::string(kLoaded) + std::string(kCharged));
  EXPECT_EQ(Sent(), (std::vector<std::string>{"SCRIPT", "EVALSHA"}));
  EXPECT_EQ(last_[1], ScriptOf(ScriptId::kRefund).sha1);
  EXPECT_EQ(last_[5], "bucket");
  EXPECT_EQ(last_[6], "3");
  // When it was charged, and by when that has stopped counting.
  EXPECT_EQ(last_[11], "1700000000000000");
  EXPECT_EQ(last_[12], "1700000000100000");
  EXPECT_EQ(metrics_.Read(RedisCount::kLateCharges), 1U);
}

TEST_F(ChannelTest, WhatIsSentBackIsSentAgainIfItDidNotRunAndElseOnlyOnce) {
  Connect();
  OwnedCheckCall& call = NewCall();
  Ask(call);
  (void)Sent();
  Pass(milliseconds(10));
  Reply(std::string(kLoaded) + std::string(kCharged));
  EXPECT_EQ(Sent(), (std::vector<std::string>{"SCRIPT", "EVALSHA"}));
  const std::vector<std::string> first = last_;
  Reply(std::string(kLoaded) + "-NOSCRIPT flushed\r\n");
  EXPECT_EQ(Sent(), (std::vector<std::string>{"SCRIPT", "EVALSHA"}));
  EXPECT_EQ(last_, first);
  channel_.OnLost("gone", now_);
  EXPECT_TRUE(channel_.idle());
}

TEST_F(ChannelTest, ALateDenialIsNotSentBack) {
  Connect();
  OwnedCheckCall& call = NewCall();
  Ask(call);
  (void)Sent();
  Pass(milliseconds(10));
  Reply(std::string(kLoaded) + "*5\r\n:1700000000000000\r\n:1\r\n:0\r\n:1\r\n:1\r\n");
  EXPECT_TRUE(Sent().empty());
}

TEST_F(ChannelTest, CallsWaitForAConnectionUntilTheirDeadline) {
  OwnedCheckCall& waits = NewCall();
  Ask(waits);
  EXPECT_EQ(waits.answers_got, 0);
  Connect();
  EXPECT_EQ(Sent(), (std::vector<std::string>{"SCRIPT", "EVALSHA"}));
  Reply(std::string(kLoaded) + std::string(kCharged));
  EXPECT_EQ(waits.error, StoreError::kNone);
}

TEST_F(ChannelTest, WithoutAServerItSaysSoAtOnce) {
  channel_.OnDialing();
  OwnedCheckCall& waits = NewCall();
  Ask(waits);
  channel_.OnLost("refused", now_);
  EXPECT_EQ(waits.answers_got, 1);
  EXPECT_EQ(waits.error, StoreError::kDidNotRun);
  OwnedCheckCall& next = NewCall();
  Ask(next);
  EXPECT_EQ(next.answers_got, 1);
  EXPECT_EQ(next.error, StoreError::kDidNotRun);
  EXPECT_FALSE(channel_.WantsDial(now_));
  Pass(milliseconds(50));
  EXPECT_TRUE(channel_.WantsDial(now_));
}

TEST_F(ChannelTest, OnlyWhatWasNotHandedOutIsSentAgain) {
  Connect();
  OwnedCheckCall& sent = NewCall();
  Ask(sent);
  (void)Sent();
  OwnedCheckCall& unsent = NewCall();
  Ask(unsent);
  channel_.OnLost("reset by peer", now_);
  EXPECT_EQ(sent.answers_got, 1);
  EXPECT_EQ(sent.error, StoreError::kUnavailable);
  EXPECT_EQ(unsent.answers_got, 0);
  now_ += milliseconds(20);
  OwnedCheckCall& later = NewCall();  // The first is out of time by then.
  unsent.deadline = Channel::Time::max();
  channel_.OnWake(now_);
  EXPECT_EQ(unsent.answers_got, 1);
  EXPECT_EQ(unsent.error, StoreError::kDidNotRun);
  Connect();
  Ask(later);
  EXPECT_EQ(Sent(), (std::vector<std::string>{"SCRIPT", "EVALSHA"}));
}

TEST_F(ChannelTest, AServerThatStallsIsLeftAloneUntilItAnswersAPing) {
  Connect();
  std::vector<OwnedCheckCall>& calls = NewCalls(5);
  for (OwnedCheckCall& call : calls) {
    Ask(call);
  }
  (void)Sent();
  Pass(milliseconds(10));
  EXPECT_TRUE(channel_.breaker_open());
  OwnedCheckCall& refused = NewCall();
  Ask(refused);
  EXPECT_EQ(refused.error, StoreError::kDidNotRun);
  EXPECT_TRUE(Sent().empty());
  Pass(milliseconds(200));
  EXPECT_EQ(Sent(), (std::vector<std::string>{"PING"}));
  std::string replies(kLoaded);
  for (int i = 0; i < 5; ++i) {
    replies += "*5\r\n:1700000000000000\r\n:1\r\n:0\r\n:1\r\n:1\r\n";
  }
  Reply(replies);
  EXPECT_TRUE(channel_.breaker_open());
  Reply("+PONG\r\n");
  EXPECT_FALSE(channel_.breaker_open());
  OwnedCheckCall& asked = NewCall();
  Ask(asked);
  EXPECT_EQ(Sent(), (std::vector<std::string>{"EVALSHA"}));
}

TEST_F(ChannelTest, AServerThatAnswersNoPingLosesItsConnection) {
  Connect();
  std::vector<OwnedCheckCall>& calls = NewCalls(5);
  for (OwnedCheckCall& call : calls) {
    Ask(call);
  }
  Pass(milliseconds(10));
  Pass(milliseconds(200));
  EXPECT_FALSE(channel_.WantsClose());
  Pass(seconds(1));
  EXPECT_TRUE(channel_.WantsClose());
  channel_.OnLost(channel_.close_why(), now_);
  now_ += milliseconds(50);
  Connect();
  EXPECT_FALSE(channel_.breaker_open());
}

TEST_F(ChannelTest, AReplicaIsLeftAndItsCallsGoToTheNextConnection) {
  Connect();
  std::vector<OwnedCheckCall>& calls = NewCalls(2);
  for (OwnedCheckCall& call : calls) {
    Ask(call);
  }
  (void)Sent();
  Reply(std::string(kLoaded) + "-READONLY You can't write against a read only replica.\r\n");
  EXPECT_FALSE(channel_.WantsClose());  // One reply is still under way.
  Reply("-READONLY You can't write against a read only replica.\r\n");
  EXPECT_TRUE(channel_.WantsClose());
  channel_.OnLost(channel_.close_why(), now_);
  now_ += milliseconds(13);
  for (OwnedCheckCall& call : calls) {
    EXPECT_EQ(call.answers_got, 0);
  }
}

TEST_F(ChannelTest, OutOfMemoryIsAnErrorOfTheCallAlone) {
  Connect();
  OwnedCheckCall& call = NewCall();
  Ask(call);
  (void)Sent();
  Reply(std::string(kLoaded) + "-OOM command not allowed when used memory > 'maxmemory'.\r\n");
  EXPECT_EQ(call.error, StoreError::kDidNotRun);
  EXPECT_TRUE(channel_.up());
  EXPECT_FALSE(channel_.breaker_open());
}

TEST_F(ChannelTest, WhatIsNoReplyEndsTheConnection) {
  Connect();
  OwnedCheckCall& call = NewCall();
  Ask(call);
  (void)Sent();
  Reply("HTTP/1.1 400 Bad Request\r\n");
  EXPECT_TRUE(channel_.WantsClose());
  channel_.OnLost(channel_.close_why(), now_);
  EXPECT_EQ(call.error, StoreError::kUnavailable);
}

TEST_F(ChannelTest, ASurplusReplyEndsTheConnection) {
  Connect();
  Reply("+PONG\r\n");
  EXPECT_TRUE(channel_.WantsClose());
}

TEST_F(ChannelTest, NumbersThatNoDecisionHasAreAnError) {
  Connect();
  (void)Sent();
  for (const std::string_view reply : {"*5\r\n:1700000000000000\r\n:77\r\n:9\r\n:1\r\n:0\r\n",
                                       "*5\r\n:1700000000000000\r\n:-1\r\n:-9\r\n:1\r\n:0\r\n",
                                       "*5\r\n:1700000000000000\r\n:-1\r\n:1000000000000000\r\n"
                                       ":1\r\n:0\r\n",
                                       "*4\r\n:1700000000000000\r\n:-1\r\n:9\r\n:1\r\n", "*0\r\n",
                                       "$2\r\nhi\r\n", "*5\r\n:-1\r\n:-1\r\n:9\r\n:1\r\n:0\r\n"}) {
    OwnedCheckCall& call = NewCall();
    Ask(call);
    for (const std::string& command : Sent()) {
      Reply(command == "SCRIPT" ? kLoaded : reply);
    }
    EXPECT_EQ(call.answers_got, 1);
    EXPECT_EQ(call.error, StoreError::kUnavailable) << reply;
  }
}

TEST_F(ChannelTest, QueuesAreBounded) {
  Connect();
  std::vector<OwnedCheckCall>& calls = NewCalls(200);
  int refused = 0;
  for (OwnedCheckCall& call : calls) {
    Ask(call);
    refused += call.answers_got;
  }
  EXPECT_GE(refused, 99);
}

// A sender that asks again as soon as it is answered.
struct Persistent final : store::CheckCall {
  void OnAnswered() noexcept override {
    ++answered;
    if (again) {
      again();
    }
  }
  std::function<void()> again;
  int answered = 0;
};

TEST_F(ChannelTest, ASenderMayAskAgainWhileItIsAnswered) {
  Connect();
  Persistent call;
  const std::array checks{store::Check{.key = key_.view(), .quota = Ten(), .cost = {}}};
  std::array<store::CheckAnswer, 1> answers{};
  call.checks = checks;
  call.answers = answers;
  call.again = [&] {
    if (call.answered < 3) {
      channel_.Send(Request::Of<CheckVerb>(call), now_);
    }
  };
  channel_.Send(Request::Of<CheckVerb>(call), now_);
  (void)Sent();
  Reply(std::string(kLoaded) + std::string(kCharged));
  EXPECT_EQ(Sent().size(), 1U);
  Pass(milliseconds(10));
  EXPECT_EQ(call.answered, 2);
  EXPECT_EQ(Sent().size(), 1U);
  channel_.OnLost("gone", now_);
  EXPECT_EQ(call.answered, 3);
}

// Takes what the server sends away, or not.
struct Elsewhere final : Redirector {
  bool OnSentAway(Channel&, Command& command, std::string_view error, Channel::Time) override {
    errors.emplace_back(error);
    if (takes) {
      taken.push_back(std::move(command));
    }
    return takes;
  }
  void OnTopology(Channel&, redis::Reply reply, Channel::Time) override {
    topologies += reply.empty() ? 0 : 1;
  }
  void OnState(Channel& channel, Channel::Time) override { up = channel.up(); }

  bool takes = true;
  std::vector<std::string> errors;
  std::vector<Command> taken;
  int topologies = 0;
  bool up = false;
};

TEST_F(ChannelTest, WhatAServerSendsAwayGoesElsewhereWithItsDeadline) {
  Elsewhere elsewhere;
  channel_.SetRedirector(elsewhere);
  Connect();
  EXPECT_TRUE(elsewhere.up);
  OwnedCheckCall& call = NewCall();
  Ask(call);
  (void)Sent();
  Reply(std::string(kLoaded) + "-MOVED 3999 127.0.0.1:6381\r\n");
  EXPECT_EQ(call.answers_got, 0);
  ASSERT_EQ(elsewhere.taken.size(), 1U);
  EXPECT_EQ(elsewhere.errors[0], "MOVED 3999 127.0.0.1:6381");
  EXPECT_EQ(elsewhere.taken[0].request.call(), &call);
  EXPECT_EQ(elsewhere.taken[0].deadline, now_ + milliseconds(10));
  // As if this were the other one.
  elsewhere.taken[0].asking = true;
  channel_.Send(std::move(elsewhere.taken[0]), now_);
  EXPECT_EQ(Sent(), (std::vector<std::string>{"ASKING", "EVALSHA"}));
  Reply("+OK\r\n" + std::string(kCharged));
  EXPECT_EQ(call.answers_got, 1);
  EXPECT_EQ(call.error, StoreError::kNone);
}

TEST_F(ChannelTest, WhatIsSentAwayTooOftenDidNotRun) {
  Elsewhere elsewhere;
  channel_.SetRedirector(elsewhere);
  Connect();
  OwnedCheckCall& call = NewCall();
  Ask(call);
  int times = 0;
  for (; call.answers_got == 0; ++times) {
    ASSERT_LT(times, 10);
    (void)Sent();
    Reply((times == 0 ? std::string(kLoaded) : "") + "-TRYAGAIN Multiple keys\r\n");
    if (!elsewhere.taken.empty()) {
      channel_.Send(std::move(elsewhere.taken.back()), now_);
      elsewhere.taken.clear();
    }
  }
  EXPECT_EQ(times, 5);
  EXPECT_EQ(call.error, StoreError::kDidNotRun);
}

TEST_F(ChannelTest, TakingBackByAnIdGoesOnAfterALostConnection) {
  Connect();
  OwnedCheckCall& part = NewCall();
  part.request_id = 77;
  Ask(part);
  (void)Sent();
  EXPECT_EQ(last_[1], ScriptOf(ScriptId::kSpan).sha1);
  EXPECT_TRUE(last_[3].ends_with(":undo:4d")) << last_[3];
  Reply(std::string(kLoaded) + std::string(kCharged));
  Command undo = channel_.CommandToUndo(part);
  undo.deadline = now_ + seconds(2);
  channel_.Send(std::move(undo), now_);
  EXPECT_EQ(Sent(), (std::vector<std::string>{"SCRIPT", "EVALSHA"}));
  const std::vector<std::string> first = last_;
  channel_.OnLost("gone", now_);
  Pass(milliseconds(100));
  channel_.OnDialing();
  channel_.OnConnected({}, now_);
  (void)Sent();
  Reply("+OK\r\n+PONG\r\n");
  EXPECT_EQ(Sent(), (std::vector<std::string>{"SCRIPT", "EVALSHA"}));
  EXPECT_EQ(last_, first);
  Reply(std::string(kLoaded) + "*1\r\n:1700000000000000\r\n");
  EXPECT_TRUE(channel_.idle());
}

TEST_F(ChannelTest, AServerThatIsNotThePrimaryAnyMoreIsReadToTheEndAndLeft) {
  Connect();
  OwnedCheckCall& call = NewCall();
  Ask(call);
  (void)Sent();
  channel_.Leave("another is the primary", now_);
  EXPECT_FALSE(channel_.WantsClose());
  Reply(std::string(kLoaded) + std::string(kCharged));
  EXPECT_EQ(call.error, StoreError::kNone);
  EXPECT_TRUE(channel_.WantsClose());
}

// A Redis that comes back without its data has counted nobody but who came back first.
TEST_F(ChannelTest, FewerNodesAreBelievedTheSecondTime) {
  std::atomic<int> nodes{1};
  channel_.Join("me", nodes);
  Connect();
  const auto count = [&](int counted) {
    (void)Sent();
    Reply(":" + std::to_string(counted) + "\r\n" + std::string(kTime));
    Pass(seconds(5));
    return nodes.load();
  };
  (void)Sent();
  Reply(kLoaded);
  EXPECT_EQ(count(3), 3);
  EXPECT_EQ(count(2), 3);
  EXPECT_EQ(count(3), 3);
  EXPECT_EQ(count(2), 3);
  EXPECT_EQ(count(1), 1);
  EXPECT_EQ(count(4), 4);
  EXPECT_EQ(count(1), 4);
  // Not counted twice by one server, if that is another by now.
  channel_.OnLost("gone", now_);
  Pass(seconds(5));
  Connect();
  (void)Sent();
  Reply(kLoaded);
  EXPECT_EQ(count(1), 4);
  EXPECT_EQ(count(2), 2);
}

// The reply was written in the middle between question and answer, as far as anybody knows.
TEST_F(ChannelTest, TheClocksOffsetIsMeasuredWithHalfTheRoundTrip) {
  std::atomic<int> nodes{1};
  channel_.Join("me", nodes);
  Connect();
  EXPECT_EQ(Sent(), (std::vector<std::string>{"SCRIPT", "EVALSHA", "TIME"}));
  EXPECT_EQ(metrics_.ClockOffset(), std::nullopt);
  now_ += milliseconds(40);
  clock_.StepWallClock(seconds(80'003));  // Then it is 1700000003 s.
  Reply(std::string(kLoaded) + ":1\r\n" + std::string(kTime));
  EXPECT_EQ(metrics_.ClockOffset(), milliseconds(2'730));
  // What is no time leaves the last one.
  for (const std::string_view reply :
       {"-NOPERM no\r\n", "*1\r\n$1\r\n1\r\n", "*2\r\n$1\r\nx\r\n$1\r\n1\r\n",
        "*2\r\n$20\r\n99999999999999999999\r\n$1\r\n1\r\n"}) {
    Pass(seconds(5));
    (void)Sent();
    Reply(":1\r\n" + std::string(reply));
    EXPECT_EQ(metrics_.ClockOffset(), milliseconds(2'730)) << reply;
  }
  Pass(seconds(5));
  (void)Sent();
  Reply(":1\r\n" + std::string(kTime));
  EXPECT_EQ(metrics_.ClockOffset(), milliseconds(2'750));
}

TEST_F(ChannelTest, CallsAreTimedFromTheirBeginToTheirAnswerOrDeadline) {
  Connect();
  OwnedCheckCall& answered = NewCall();
  OwnedCheckCall& late = NewCall();
  Ask(answered);
  Ask(late);
  EXPECT_EQ(metrics_.UnderWay(), 2U);
  (void)Sent();
  now_ += milliseconds(3);
  Reply(std::string(kLoaded) + std::string(kCharged));
  EXPECT_EQ(metrics_.UnderWay(), 1U);
  Pass(milliseconds(7));
  EXPECT_EQ(late.error, StoreError::kUnavailable);
  EXPECT_EQ(metrics_.UnderWay(), 0U);
  const auto reading = metrics_.Durations(RedisServer::kMain);
  EXPECT_EQ(reading.count, 2U);
  EXPECT_EQ(reading.sum_ns, 13'000'000U);
  EXPECT_EQ(metrics_.Durations(RedisServer::kPerSecond).count, 0U);
}

TEST_F(ChannelTest, WhatIsRefusedForWantOfRoomIsCountedApartAndNotTimed) {
  Connect();
  std::vector<OwnedCheckCall>& calls = NewCalls(100);  // Each a command; SCRIPT LOAD is one too.
  for (OwnedCheckCall& call : calls) {
    Ask(call);
  }
  EXPECT_EQ(calls.back().error, StoreError::kDidNotRun);
  EXPECT_EQ(metrics_.Read(RedisCount::kQueueFull), 1U);
  EXPECT_EQ(metrics_.Read(RedisCount::kRefused), 1U);
  EXPECT_EQ(metrics_.UnderWay(), 99U);
  EXPECT_EQ(metrics_.Durations(RedisServer::kMain).count, 0U);
  // Without a connection in time it is not for want of room.
  (void)Sent();
  channel_.OnLost("gone", now_);
  OwnedCheckCall& vain = NewCall();
  vain.deadline = now_;
  Ask(vain);
  EXPECT_EQ(metrics_.Read(RedisCount::kQueueFull), 1U);
  EXPECT_EQ(metrics_.UnderWay(), 0U);
}

}  // namespace
}  // namespace sluice::redis
