#include <string>

#include <gmock/gmock.h>

#include "idempotency/answer_memory.h"
#include "integration/http/table_front_end_fixture.h"
#include "support/http2_client.h"

namespace sluice::frontend::http {
namespace {

using testing::MatchesRegex;

constexpr const char* kOurs = "[0-9a-f]{32}";
constexpr const char* kUser = R"({"user_id": "a"})";

std::string Sends(const std::string& id) {
  return "X-Request-Id: " + id + "\r\n";
}

class RequestIdTest : public TableFrontEndFixture {
 protected:
  void SetUp() override {
    TableFrontEndFixture::SetUp();
    Load(R"(
rules:
  - {id: api, match: {user_id: "*"}, key_pattern: "user:{user_id}", algorithm: fixed_window,
     limit: 1, window: 1h}
  - {id: path, match: {endpoint: "/limited"}, key_pattern: "{ip}", algorithm: fixed_window,
     limit: 1, window: 1h}
)");
  }

  // The value of X-Request-Id; "" without one.
  static std::string IdIn(const Reply& reply) {
    const std::string name = "\r\nX-Request-Id: ";
    const std::size_t at = reply.head.find(name);
    if (at == std::string::npos) {
      return "";
    }
    EXPECT_EQ(reply.head.find(name, at + 1), std::string::npos) << reply.head;
    const std::size_t begin = at + name.size();
    return reply.head.substr(begin, reply.head.find("\r\n", begin) - begin);
  }
  Reply Proxied(const std::string& path, const std::string& fields = "") {
    return Send("GET", "/v1/check/http" + path, "", fields);
  }
};

TEST_F(RequestIdTest, ADenialHasOneOfOursAndAnAllowedAnswerHasNone) {
  EXPECT_EQ(IdIn(Check(kUser)), "");
  const Reply denied = Check(kUser);
  EXPECT_EQ(denied.status, 429);
  EXPECT_THAT(IdIn(denied), MatchesRegex(kOurs));
  EXPECT_NE(IdIn(Check(kUser)), IdIn(denied));
}

TEST_F(RequestIdTest, AClientsComesBackWhateverTheAnswer) {
  EXPECT_EQ(IdIn(Check(kUser, Sends("req-1"))), "req-1");
  EXPECT_EQ(IdIn(Check(kUser, Sends("req-2"))), "req-2");
  EXPECT_EQ(IdIn(Check(kUser, "x-REQUEST-id: req-3\r\n")), "req-3");
  EXPECT_EQ(IdIn(Check("{", Sends("req-4"))), "req-4");
  EXPECT_EQ(IdIn(Send("GET", "/nothing", "", Sends("req-5"))), "req-5");
  EXPECT_EQ(IdIn(Send("GET", "/healthz", "", Sends("req-6"))), "req-6");
  EXPECT_EQ(IdIn(Send("GET", "/v1/ratelimit/status/a", "", Sends("req-7"))), "req-7");
}

TEST_F(RequestIdTest, AnIdOfAnEarlierRequestIsGone) {
  EXPECT_EQ(IdIn(Check(kUser, Sends("req-1"))), "req-1");
  EXPECT_EQ(IdIn(Send("GET", "/healthz", "")), "");
  EXPECT_THAT(IdIn(Check(kUser)), MatchesRegex(kOurs));
}

TEST_F(RequestIdTest, OneThatCouldDoHarmIsAnsweredWithOurs) {
  EXPECT_THAT(IdIn(Check(kUser, Sends("a b"))), MatchesRegex(kOurs));
  EXPECT_THAT(IdIn(Check(kUser, Sends("<script>"))), MatchesRegex(kOurs));
  EXPECT_THAT(IdIn(Check(kUser, Sends(std::string(65, 'x')))), MatchesRegex(kOurs));
  EXPECT_EQ(IdIn(Check(kUser, Sends(std::string(64, 'x')))), std::string(64, 'x'));
}

TEST_F(RequestIdTest, EveryProblemHasOne) {
  EXPECT_THAT(IdIn(Check("{")), MatchesRegex(kOurs));
  EXPECT_THAT(IdIn(Send("GET", "/nothing", "")), MatchesRegex(kOurs));
  EXPECT_THAT(IdIn(Send("DELETE", "/v1/ratelimit/check", "")), MatchesRegex(kOurs));
}

TEST_F(RequestIdTest, AProxysAnswersHaveItInTheSameWay) {
  EXPECT_EQ(IdIn(Proxied("/limited")), "");
  const Reply denied = Proxied("/limited");
  EXPECT_EQ(denied.status, 429);
  EXPECT_THAT(IdIn(denied), MatchesRegex(kOurs));
  EXPECT_EQ(IdIn(Proxied("/limited", Sends("req-1"))), "req-1");
  EXPECT_EQ(IdIn(Proxied("/other", Sends("req-2"))), "req-2");
}

TEST_F(RequestIdTest, ABatchHasOneForAllOfItsChecks) {
  EXPECT_THAT(IdIn(Post("batch", "[" + std::string(kUser) + "]")), MatchesRegex(kOurs));
  EXPECT_EQ(IdIn(Post("batch", "[" + std::string(kUser) + "]", Sends("req-1"))), "req-1");
}

TEST_F(RequestIdTest, ARepeatedAnswerHasTheIdOfItsOwnRequest) {
  idempotency::AnswerMemory memory({.bytes = 1U << 20U, .keep = std::chrono::hours(24)});
  FrontEndSettings settings;
  settings.memory = &memory;
  OpenFrontEnd(settings);
  const std::string keyed = "Idempotency-Key: k\r\n";
  EXPECT_EQ(IdIn(Check(kUser, keyed + Sends("req-1"))), "req-1");
  EXPECT_EQ(IdIn(Check(kUser, keyed + Sends("req-2"))), "req-2");
  const Reply third = Check(kUser, keyed);
  EXPECT_EQ(third.status, 200);
  EXPECT_EQ(IdIn(third), "");
}

TEST_F(RequestIdTest, Http2HasItInLowerCase) {
  support::Http2Client http2;
  const auto peer = std::make_unique<net::FakeClient>(loop_);
  front_end_->Accept(peer->MakeTransport());
  const auto allowed = http2.Ask("POST", "/v1/ratelimit/check", kUser);
  const auto denied = http2.Ask("POST", "/v1/ratelimit/check", kUser);
  const auto named = http2.Ask("POST", "/v1/ratelimit/check", kUser, {{"x-request-id", "req-1"}});
  for (std::string up = http2.Output(); !up.empty(); up = http2.Output()) {
    peer->Send(up);
    Turn();
    http2.Input(std::exchange(peer->received(), {}));
  }
  EXPECT_FALSE(http2.answers[allowed].fields.contains("x-request-id"));
  EXPECT_THAT(http2.answers[denied].fields.at("x-request-id"), MatchesRegex(kOurs));
  EXPECT_EQ(http2.answers[named].fields.at("x-request-id"), "req-1");
}

}  // namespace
}  // namespace sluice::frontend::http
