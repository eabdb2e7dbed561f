// Order, lateness and vanishing: one connection over a store that answers when it likes.

#include <gmock/gmock.h>

#include "integration/http/front_end_fixture.h"
#include "net/event_loop.h"

namespace sluice::frontend::http {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class PipelineTest : public FrontEndFixture {};

TEST_F(PipelineTest, AnswersInExactlyTheseBytes) {
  MakeFrontEnd();
  const auto client = Connect();
  client->Send(CheckOf(87));
  Turn();
  store_.AnswerAll();
  Turn();
  const std::string body =
      R"({"allowed": true, "remaining": 87, "reset_at": 1714473660, "limits": [)"
      R"({"name": "r", "allowed": true, "limit": 1000000, "remaining": 87, )"
      R"("reset_at": 1714473660}]})";
  EXPECT_EQ(client->received(),
            "HTTP/1.1 200 OK\r\n"
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            "X-RateLimit-Limit: 1000000\r\n"
            "X-RateLimit-Remaining: 87\r\n"
            "X-RateLimit-Reset: 1714473660\r\n"
            "RateLimit-Policy: \"r\";q=1000000;w=60\r\n"
            "RateLimit: \"r\";r=87;t=1\r\n"
            "Content-Type: application/json\r\n"
            "Content-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
}

TEST_F(PipelineTest, HandsOneReadsRequestsOverAsOneBatchAndWritesOnce) {
  MakeFrontEnd();
  store_.answer_at_once = true;
  const auto client = Connect();
  std::string requests;
  for (int i = 1; i <= 16; ++i) {
    requests += CheckOf(i);
  }
  client->Send(requests);
  Turn();
  EXPECT_EQ(store_.batches, 1);
  EXPECT_EQ(client->writes(), 1);
  EXPECT_EQ(CostsIn(client->received()).size(), 16U);
}

TEST_F(PipelineTest, KeepsTheOrderOfRequestsWhenAnswersComeInAnyOther) {
  MakeFrontEnd();
  const auto client = Connect();
  client->Send(CheckOf(1) + CheckOf(2) + Get("/healthz") + CheckOf(3) + CheckOf(4));
  Turn();
  ASSERT_EQ(store_.pending.size(), 4U);
  store_.Answer(3);
  Turn();
  EXPECT_EQ(client->received(), "");
  store_.Answer(1);
  store_.Answer(0);
  Turn();
  EXPECT_THAT(CostsIn(client->received()), ElementsAre(1, 2));
  EXPECT_THAT(client->received(), HasSubstr("ok\n"));
  store_.Answer(0);
  Turn();
  EXPECT_THAT(CostsIn(client->received()), ElementsAre(1, 2, 3, 4));
}

TEST_F(PipelineTest, SurvivesAClientThatVanishesBeforeTheStoreAnswers) {
  MakeFrontEnd();
  auto client = Connect();
  client->Send(CheckOf(1) + CheckOf(2) + CheckOf(3));
  Turn();
  store_.Answer(1);
  client->Vanish();
  Turn();
  EXPECT_EQ(front_end_->connections(), 0U);
  EXPECT_EQ(front_end_->exchanges_in_use(), 2U);  // The store still has them.
  client.reset();
  store_.AnswerAll();
  Turn();
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

TEST_F(PipelineTest, AnswersAClientThatEndedItsSideAndThenCloses) {
  MakeFrontEnd();
  const auto client = Connect();
  client->Send(CheckOf(5));
  client->EndInput();
  Turn();
  EXPECT_FALSE(client->closed());
  store_.AnswerAll();
  Turn();
  EXPECT_THAT(CostsIn(client->received()), ElementsAre(5));
  EXPECT_TRUE(client->closed());
}

TEST_F(PipelineTest, StopsReadingWhenTooManyAnswersAreMissing) {
  MakeFrontEnd({.pipeline = 4});
  const auto client = Connect();
  std::string requests;
  for (int i = 1; i <= 200; ++i) {
    requests += CheckOf(i);
  }
  client->Send(requests);
  Turn();
  EXPECT_EQ(store_.pending.size(), 4U);
  EXPECT_GT(client->unread(), 0U);
  std::vector<int> expected;
  for (int i = 1; i <= 200; ++i) {
    expected.push_back(i);
    if (!store_.pending.empty()) {
      store_.Answer(0);
    }
    Turn();
  }
  EXPECT_EQ(CostsIn(client->received()), expected);
}

TEST_F(PipelineTest, StopsReadingFromAClientThatTakesNoAnswers) {
  MakeFrontEnd({.output_bytes = 2'000});
  store_.answer_at_once = true;
  const auto client = Connect();
  client->HoldWrites(true);
  std::string requests;
  for (int i = 1; i <= 2'000; ++i) {
    requests += CheckOf(i);
  }
  client->Send(requests);
  Turn();
  EXPECT_GT(client->unread(), requests.size() / 2);
  EXPECT_LT(front_end_->exchanges_in_use(), 300U);
  client->HoldWrites(false);
  Turn();
  EXPECT_EQ(CostsIn(client->received()).size(), 2'000U);
  EXPECT_EQ(CostsIn(client->received()).back(), 2'000);
}

TEST_F(PipelineTest, ReusesExchanges) {
  MakeFrontEnd();
  store_.answer_at_once = true;
  const auto client = Connect();
  for (int i = 0; i < 100; ++i) {
    client->Send(CheckOf(1));
    Turn();
  }
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

TEST_F(PipelineTest, ClosesAfterTheAnswerWhereTheClientAsksForIt) {
  MakeFrontEnd();
  store_.answer_at_once = true;
  const auto client = Connect();
  client->Send(Check("{}", "Connection: close\r\n") + CheckOf(1));
  Turn();
  EXPECT_THAT(StatusesIn(client->received()), ElementsAre(200));
  EXPECT_THAT(client->received(), HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(client->write_shut());
  EXPECT_FALSE(client->closed());  // Until the client has seen it.
  client->EndInput();
  Turn();
  EXPECT_TRUE(client->closed());
}

TEST_F(PipelineTest, DrainsByAnsweringWhatWasAsked) {
  MakeFrontEnd({.drain_grace = {}});
  const auto idle = Connect();
  const auto busy = Connect();
  busy->Send(CheckOf(1) + CheckOf(2));
  Turn();
  front_end_->Drain();
  Turn();
  EXPECT_TRUE(idle->closed());
  EXPECT_FALSE(busy->closed());
  store_.AnswerAll();
  Turn();
  EXPECT_THAT(CostsIn(busy->received()), ElementsAre(1, 2));
  EXPECT_THAT(busy->received(), HasSubstr("Connection: close\r\n"));
  EXPECT_LT(busy->received().find("\r\n\r\n"), busy->received().find("Connection: close"));
  busy->EndInput();
  Turn();
  EXPECT_EQ(front_end_->connections(), 0U);
}

TEST_F(PipelineTest, AnswersWhatIsAskedOfAnIdleConnectionWithinTheDrainsGrace) {
  MakeFrontEnd({.drain_grace = std::chrono::hours(1)});
  const auto client = Connect();
  client->Send(CheckOf(1));
  Turn();
  store_.AnswerAll();
  Turn();
  front_end_->Drain();
  Turn();
  ASSERT_FALSE(client->closed());
  client->Send(CheckOf(2));  // Sent before its sender could know.
  Turn();
  store_.AnswerAll();
  Turn();
  EXPECT_THAT(CostsIn(client->received()), ElementsAre(1, 2));
  EXPECT_THAT(client->received(), HasSubstr("Connection: close\r\n"));
  client->EndInput();
  Turn();
  EXPECT_EQ(front_end_->connections(), 0U);
}

TEST_F(PipelineTest, ClosesAnIdleConnectionWhenTheDrainsGraceIsOver) {
  MakeFrontEnd({.drain_grace = std::chrono::milliseconds(20)});
  const auto client = Connect();
  front_end_->Drain();
  while (!client->closed()) {
    loop_.RunOne();
  }
  EXPECT_EQ(front_end_->connections(), 0U);
}

class WaitTest : public FrontEndFixture {
 protected:
  static std::string Waiting(int cost) {
    return Check(R"({"user_id": "u", "wait": true, "cost": )" + std::to_string(cost) + "}");
  }
};

TEST_F(WaitTest, HoldsTheReplyForTheWholeWaitAndLaterRepliesBehindIt) {
  MakeFrontEnd();
  store_.wait = std::chrono::milliseconds(30);
  const auto client = Connect();
  client->Send(Waiting(1) + CheckOf(2));
  Turn();
  const auto asked = std::chrono::steady_clock::now();
  store_.AnswerAll();
  while (CostsIn(client->received()).empty()) {
    loop_.RunOne();
  }
  EXPECT_GE(std::chrono::steady_clock::now() - asked, store_.wait);
  Turn();
  EXPECT_THAT(CostsIn(client->received()), ElementsAre(1, 2));
  EXPECT_THAT(client->received(), HasSubstr(R"("wait_ms": 30, "waited": true)"));
}

TEST_F(WaitTest, TellsAWaitAboveTheBoundInsteadOfHoldingIt) {
  MakeFrontEnd({.longest_wait = std::chrono::seconds(1)});
  store_.wait = std::chrono::seconds(2);
  store_.answer_at_once = true;
  const auto client = Connect();
  client->Send(Waiting(1));
  Turn();
  EXPECT_THAT(client->received(), HasSubstr(R"("wait_ms": 2000, "limits")"));
}

TEST_F(WaitTest, ForgetsAHeldReplyWhoseClientIsGone) {
  MakeFrontEnd();
  store_.wait = std::chrono::milliseconds(5);
  store_.answer_at_once = true;
  const auto client = Connect();
  client->Send(Waiting(1));
  Turn();
  EXPECT_EQ(front_end_->exchanges_in_use(), 1U);
  client->Vanish();
  Turn();
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

class SlowClientTest : public FrontEndFixture {
 protected:
  void RunUntilClosed(const net::FakeClient& client) {
    while (!client.closed()) {
      loop_.RunOne();
    }
  }
};

constexpr Duration kSoon = std::chrono::milliseconds(15);

TEST_F(SlowClientTest, GetsA408ForAHeaderThatDoesNotEnd) {
  MakeFrontEnd({.header_timeout = kSoon, .linger = kSoon});
  const auto client = Connect();
  client->Send("POST /v1/ratelimit/check HT");
  RunUntilClosed(*client);
  EXPECT_THAT(StatusesIn(client->received()), ElementsAre(408));
  EXPECT_THAT(client->received(), HasSubstr("Connection: close"));
}

TEST_F(SlowClientTest, GetsA408ForABodyThatDoesNotEnd) {
  MakeFrontEnd({.body_timeout = kSoon, .linger = kSoon});
  const auto client = Connect();
  const std::string request = CheckOf(1);
  client->Send(request.substr(0, request.size() - 3));
  RunUntilClosed(*client);
  EXPECT_THAT(StatusesIn(client->received()), ElementsAre(408));
  EXPECT_TRUE(store_.pending.empty());
}

TEST_F(SlowClientTest, GetsOne408HoweverSlowlyItReadsThat) {
  MakeFrontEnd({.body_timeout = kSoon, .linger = kSoon});
  const auto client = Connect();
  client->HoldWrites(true);
  const std::string request = CheckOf(1);
  client->Send(request.substr(0, request.size() - 3));
  net::Timer later([&] { client->HoldWrites(false); });
  loop_.ArmAfter(later, std::chrono::milliseconds(300));  // Several timer ticks after the 408.
  RunUntilClosed(*client);
  EXPECT_THAT(StatusesIn(client->received()), ElementsAre(408));
}

TEST_F(SlowClientTest, IsClosedWithoutAWordWhenIdle) {
  MakeFrontEnd({.idle_timeout = kSoon});
  const auto client = Connect();
  RunUntilClosed(*client);
  EXPECT_EQ(client->received(), "");
}

TEST_F(SlowClientTest, IsClosedWhenItTakesNoAnswer) {
  MakeFrontEnd({.write_timeout = kSoon});
  store_.answer_at_once = true;
  const auto client = Connect();
  client->HoldWrites(true);
  client->Send(CheckOf(1));
  RunUntilClosed(*client);
}

TEST_F(SlowClientTest, IsNotBlamedForASlowStore) {
  MakeFrontEnd({.header_timeout = kSoon,
                .body_timeout = kSoon,
                .idle_timeout = kSoon,
                .write_timeout = kSoon});
  const auto client = Connect();
  client->Send(CheckOf(1));
  Turn();
  const auto until = std::chrono::steady_clock::now() + 4 * kSoon;
  net::Timer alarm([] {});
  loop_.ArmAfter(alarm, 4 * kSoon, net::TimerPrecision::kExact);
  while (std::chrono::steady_clock::now() < until) {
    loop_.RunOne();
  }
  EXPECT_FALSE(client->closed());
  store_.AnswerAll();
  Turn();
  EXPECT_THAT(CostsIn(client->received()), ElementsAre(1));
}

}  // namespace
}  // namespace sluice::frontend::http
