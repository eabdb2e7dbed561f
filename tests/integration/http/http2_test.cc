#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/http/front_end_fixture.h"
#include "net/event_loop.h"
#include "support/http2_client.h"
#include "wire/http2_session.h"

namespace sluice::frontend::http {
namespace {

using support::Http2Client;
using support::Http2Frame;
using testing::HasSubstr;

constexpr const char* kCheckPath = "/v1/ratelimit/check";

class Http2Test : public FrontEndFixture {
 protected:
  void Open(FrontEndSettings settings = {}) {
    MakeFrontEnd(std::move(settings));
    peer_ = Connect();
  }

  // What the client has to say, the server's turn, what it answers.
  void Exchange() {
    for (;;) {
      const std::string up = client_.Output();
      if (!up.empty() && !peer_->closed()) {
        peer_->Send(up);
      }
      Turn();
      const std::string down = std::exchange(peer_->received(), {});
      if (!down.empty()) {
        client_.Input(down);
      }
      if (up.empty() && down.empty()) {
        return;
      }
    }
  }

  template <class Condition>
  void Until(const Condition& done) {
    while (!done()) {
      loop_.RunOne();
      Exchange();
    }
  }

  std::int32_t Ask(const std::string& body) { return client_.Ask("POST", kCheckPath, body); }
  const Http2Client::Answer& AnswerOf(std::int32_t stream) { return client_.answers[stream]; }

  std::unique_ptr<net::FakeClient> peer_;
  Http2Client client_;
};

TEST_F(Http2Test, APrefaceOpensHttp2HoweverItIsCut) {
  MakeFrontEnd();
  for (const std::size_t piece : {1U, 5U, 24U, 1000U}) {
    Http2Client client;
    const auto peer = Connect();
    const auto stream = client.Ask("GET", "/healthz");
    const std::string up = client.Output();
    for (std::size_t at = 0; at < up.size(); at += piece) {
      peer->Send(up.substr(at, piece));
      Turn();
    }
    client.Input(peer->received());
    EXPECT_EQ(client.answers[stream].status, 200) << piece;
    EXPECT_TRUE(client.answers[stream].ended) << piece;
    peer->Vanish();
    Turn();
    EXPECT_EQ(front_end_->connections(), 0U);
  }
}

TEST_F(Http2Test, APostIsNoPreface) {
  MakeFrontEnd();
  const auto peer = Connect();
  const std::string request = Get("/healthz", "PROPFIND");
  for (const char c : request) {
    peer->Send(std::string(1, c));
    Turn();
  }
  EXPECT_THAT(StatusesIn(peer->received()), testing::ElementsAre(405));
}

TEST_F(Http2Test, ChecksOfOneTurnAreOneBatchAndAnswersOneWrite) {
  Open();
  Exchange();
  const int before = peer_->writes();
  const auto first = Ask(R"({"user_id": "u", "cost": 1})");
  const auto second = Ask(R"({"user_id": "u", "cost": 2})");
  peer_->Send(client_.Output());
  Turn();
  ASSERT_EQ(store_.pending.size(), 2U);
  EXPECT_EQ(store_.batches, 1);
  store_.AnswerAll();
  Exchange();
  EXPECT_EQ(AnswerOf(first).status, 200);
  EXPECT_EQ(AnswerOf(second).status, 200);
  EXPECT_EQ(AnswerOf(first).fields.at("content-type"), "application/json");
  EXPECT_THAT(AnswerOf(first).body, HasSubstr("\"allowed\": true"));
  EXPECT_TRUE(AnswerOf(first).fields.contains("x-ratelimit-limit"));
  EXPECT_TRUE(AnswerOf(first).fields.contains("date"));
  EXPECT_EQ(std::stoul(AnswerOf(first).fields.at("content-length")), AnswerOf(first).body.size());
  EXPECT_LE(peer_->writes() - before, 2);
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

TEST_F(Http2Test, AnswersLeaveAsTheyCome) {
  Open();
  const auto first = Ask(R"({"user_id": "u", "cost": 1})");
  const auto second = Ask(R"({"user_id": "u", "cost": 2})");
  Exchange();
  store_.Answer(1);
  Exchange();
  EXPECT_FALSE(AnswerOf(first).ended);
  EXPECT_TRUE(AnswerOf(second).ended);
  store_.AnswerAll();
  Exchange();
  EXPECT_TRUE(AnswerOf(first).ended);
}

TEST_F(Http2Test, ARequestTakenBackBeforeItsAnswerIsForgotten) {
  Open();
  const auto stream = Ask(R"({"user_id": "u"})");
  Exchange();
  client_.Reset(stream, 8);
  Exchange();
  EXPECT_EQ(front_end_->exchanges_in_use(), 1U);  // The store has it.
  store_.AnswerAll();
  Exchange();
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
  const auto next = client_.Ask("GET", "/healthz");
  Exchange();
  EXPECT_EQ(AnswerOf(next).status, 200);
}

TEST_F(Http2Test, AConnectionThatVanishesAbandonsWhatItAsked) {
  Open();
  Ask(R"({"user_id": "u"})");
  Ask(R"({"user_id": "v"})");
  Exchange();
  peer_->Vanish();
  Turn();
  EXPECT_EQ(front_end_->connections(), 0U);
  store_.AnswerAll();
  Turn();
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

TEST_F(Http2Test, HeadAndErrorsAndTokensAreAsWithHttp1) {
  FrontEndSettings settings;
  const AccessToken token("secret");
  settings.token = &token;
  Open(settings);
  const auto head = client_.Ask("HEAD", "/healthz");
  const auto lost = client_.Ask("GET", "/nowhere", "", {{"authorization", "Bearer secret"}});
  const auto stranger = client_.Ask("GET", "/nowhere");
  const auto post = client_.Ask("GET", kCheckPath, "", {{"authorization", "Bearer secret"}});
  Exchange();
  EXPECT_EQ(AnswerOf(head).status, 200);
  EXPECT_EQ(AnswerOf(head).body, "");
  EXPECT_NE(AnswerOf(head).fields.at("content-length"), "0");
  EXPECT_EQ(AnswerOf(lost).status, 404);
  EXPECT_EQ(AnswerOf(stranger).status, 401);
  EXPECT_TRUE(AnswerOf(stranger).fields.contains("www-authenticate"));
  EXPECT_EQ(AnswerOf(post).status, 405);
  EXPECT_EQ(AnswerOf(post).fields.at("allow"), "POST");
}

TEST_F(Http2Test, WhatIsTooLargeIsAnswered) {
  Open();
  const std::string large(100'000, ' ');
  const auto told =
      client_.Ask("POST", kCheckPath, large, {{"content-length", std::to_string(large.size())}});
  const auto untold = client_.Ask("POST", kCheckPath, large);
  const auto header = client_.Ask("GET", "/healthz", "", {{"x", std::string(20'000, 'x')}});
  Exchange();
  EXPECT_EQ(AnswerOf(told).status, 413);
  EXPECT_EQ(AnswerOf(untold).status, 413);
  EXPECT_EQ(AnswerOf(header).status, 431);
  const auto sound = client_.Ask("GET", "/healthz");
  Exchange();
  EXPECT_EQ(AnswerOf(sound).status, 200);
  EXPECT_EQ(client_.goaways, 0);
}

TEST_F(Http2Test, ManyLargeBodiesAreServedOneAfterTheOther) {
  Open();
  const std::string body = R"({"user_id": "u"})" + std::string(60'000, ' ');
  for (int i = 0; i < 40; ++i) {
    const auto stream = Ask(body);
    Exchange();
    store_.AnswerAll();
    Exchange();
    ASSERT_EQ(AnswerOf(stream).status, 200) << i;
  }
}

TEST_F(Http2Test, ABodyThatDoesNotComeIsAnsweredAndTheOthersAreServed) {
  FrontEndSettings settings;
  settings.body_timeout = std::chrono::milliseconds(5);
  Open(settings);
  const auto slow = client_.Ask("POST", kCheckPath, "{", {}, /*more=*/true);
  Exchange();
  Until([&] { return AnswerOf(slow).status == 408; });
  const auto next = client_.Ask("GET", "/healthz");
  Exchange();
  EXPECT_EQ(AnswerOf(next).status, 200);
}

TEST_F(Http2Test, AHeaderThatDoesNotEndClosesTheConnection) {
  FrontEndSettings settings;
  settings.header_timeout = std::chrono::milliseconds(5);
  Open(settings);
  Exchange();
  peer_->Send(Http2Frame(1, 0, 1, std::string("\x82\x86", 2)));
  while (!peer_->closed()) {
    loop_.RunOne();
  }
  Turn();
  EXPECT_EQ(front_end_->connections(), 0U);
}

TEST_F(Http2Test, AnIdleConnectionIsClosedAlsoIfItPings) {
  FrontEndSettings settings;
  settings.idle_timeout = std::chrono::milliseconds(20);
  Open(settings);
  Exchange();
  while (!peer_->closed()) {
    peer_->Send(Http2Frame(6, 0, 0, "12345678"));
    loop_.RunOne();
  }
}

TEST_F(Http2Test, AnAdminListenerIsAskedByItsName) {
  FrontEndSettings settings;
  settings.role = Role::kAdmin;
  settings.host_names = {.address = "127.0.0.1:6070", .names = {}};
  Open(settings);
  const auto rebound = client_.Ask("GET", "/metrics");  // :authority is "host".
  Exchange();
  EXPECT_EQ(client_.answers[rebound].status, 403);
}

TEST_F(Http2Test, AClientThatTakesNoAnswersIsClosed) {
  FrontEndSettings settings;
  settings.write_timeout = std::chrono::milliseconds(5);
  settings.role = Role::kAdmin;
  Open(settings);
  // Its window stays shut: SETTINGS_INITIAL_WINDOW_SIZE 0.
  peer_->Send(std::string(wire::kHttp2Preface) +
              Http2Frame(4, 0, 0, std::string("\0\x04\0\0\0\0", 6)) +
              Http2Frame(1, 5, 1, std::string("\x82\x86\x04\x08/healthz\x41\x04host", 19)));
  while (!peer_->closed()) {
    loop_.RunOne();
  }
  Turn();
  EXPECT_EQ(front_end_->connections(), 0U);
}

TEST_F(Http2Test, WhileAnswersAreNotTakenNothingMoreIsRead) {
  FrontEndSettings settings;
  settings.output_bytes = 1000;
  settings.role = Role::kAdmin;
  Open(settings);
  Exchange();
  peer_->HoldWrites(true);
  for (int i = 0; i < 200; ++i) {
    client_.Ask("GET", "/metrics");
    peer_->Send(client_.Output());
    Turn();
  }
  EXPECT_GT(peer_->unread(), 0U);
  peer_->HoldWrites(false);
  Exchange();
  Exchange();
  EXPECT_EQ(peer_->unread(), 0U);
}

TEST_F(Http2Test, ADrainSaysSoAnswersAndCloses) {
  FrontEndSettings settings;
  settings.drain_grace = std::chrono::milliseconds(5);
  Open(settings);
  const auto asked = Ask(R"({"user_id": "u"})");
  Exchange();
  front_end_->Drain();
  Exchange();
  EXPECT_GE(client_.goaways, 1);  // Two where we were slow, and the grace is over.
  const auto late = client_.Ask("GET", "/healthz");  // It was on its way.
  Exchange();
  Until([&] { return client_.goaways == 2; });
  EXPECT_FALSE(peer_->write_shut());
  store_.AnswerAll();
  Exchange();
  EXPECT_EQ(AnswerOf(asked).status, 200);
  EXPECT_TRUE(AnswerOf(late).closed || AnswerOf(late).status == 200);
  EXPECT_TRUE(peer_->write_shut());
  peer_->EndInput();
  Turn();
  EXPECT_EQ(front_end_->connections(), 0U);
}

TEST_F(Http2Test, WhatBreaksTheProtocolEndsTheConnection) {
  Open();
  Exchange();
  peer_->Send(Http2Frame(0, 0, 0, "data of no stream"));
  Turn();
  client_.Input(peer_->received());
  EXPECT_EQ(client_.goaways, 1);
  EXPECT_TRUE(peer_->write_shut());
  peer_->EndInput();
  Turn();
  EXPECT_EQ(front_end_->connections(), 0U);
}

}  // namespace
}  // namespace sluice::frontend::http
