// What a client may send and must not get away with: every route's refusals, sizes, smuggling,
// and plain garbage.

#include <random>

#include <gmock/gmock.h>

#include "integration/http/front_end_fixture.h"

namespace sluice::frontend::http {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RefusalTest : public FrontEndFixture {
 protected:
  std::string Answer(const std::string& request) {
    if (front_end_ == nullptr) {
      MakeFrontEnd(settings_);
      store_.answer_at_once = true;
    }
    const auto client = Connect();
    client->Send(request);
    Turn();
    return client->received();
  }

  FrontEndSettings settings_;
};

void ExpectProblem(const std::string& answer, int status, const std::string& detail) {
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 " + std::to_string(status) + " "));
  EXPECT_THAT(answer, HasSubstr("Content-Type: application/problem+json\r\n"));
  EXPECT_THAT(answer, HasSubstr("\"status\": " + std::to_string(status)));
  EXPECT_THAT(answer, HasSubstr(detail));
}

TEST_F(RefusalTest, SaysWhichMethodAPathTakes) {
  const std::string wrong_post = Answer(Get("/v1/ratelimit/check"));
  ExpectProblem(wrong_post, 405, "POST");
  EXPECT_THAT(wrong_post, HasSubstr("\r\nAllow: POST\r\n"));
  const std::string wrong_get = Answer(Get("/v1/ratelimit/status/u", "DELETE"));
  ExpectProblem(wrong_get, 405, "GET");
  EXPECT_THAT(wrong_get, HasSubstr("\r\nAllow: GET, HEAD\r\n"));
}

TEST_F(RefusalTest, KnowsItsPaths) {
  for (const char* path : {"/", "/v1/ratelimit/checks", "/v1/ratelimit/status/a/b", "/metrics",
                           "/v1/ratelimit/status/"}) {
    ExpectProblem(Answer(Get(path)), 404, "/v1/ratelimit/check");
  }
}

TEST_F(RefusalTest, PointsAtWhatIsWrongInABody) {
  ExpectProblem(Answer(Check(R"({"user_id": "u",})")), 400,
                R"("code": "invalid_json", "position")");
  ExpectProblem(Answer(Check(R"({"user_id": "u", "cost": -1})")), 400, "invalid_cost");
  ExpectProblem(Answer(Check(R"({"user_id": "u", "cost": 1.5})")), 400, "invalid_cost");
  ExpectProblem(Answer(Check(R"({"user_id": "u", "cost": 1000000000000000})")), 400,
                "invalid_cost");
  ExpectProblem(Answer(Check(R"({"user_id": ["u"]})")), 400, "nested_value");
  ExpectProblem(Answer(Check(R"({"user_id": "u", "peek": 1})")), 400, "wrong_type");
  ExpectProblem(Answer(Check("")), 400, "invalid_json");
  EXPECT_EQ(store_.charged, 0);
}

TEST_F(RefusalTest, JudgesABodyByWhatItIsAndNotByItsLabel) {
  for (const char* label :
       {"text/plain", "application/x-www-form-urlencoded", "Application/JSON; charset=utf-8"}) {
    EXPECT_THAT(Answer(Check("{}", std::string("Content-Type: ") + label + "\r\n")),
                HasSubstr("HTTP/1.1 200 OK"))
        << label;
  }
  ExpectProblem(Answer(Check("{}", "Content-Encoding: gzip\r\n")), 415, "Content-Encoding");
}

TEST_F(RefusalTest, RefusesWhatIsTooLargeAndCloses) {
  const std::string body = Answer(
      "POST /v1/ratelimit/check HTTP/1.1\r\nHost: h\r\n"
      "Content-Length: 300000\r\n\r\n");
  ExpectProblem(body, 413, "body");
  EXPECT_THAT(body, HasSubstr("Connection: close\r\n"));
  const std::string field = std::string(20'000, 'a');
  ExpectProblem(Answer("GET /healthz HTTP/1.1\r\nHost: h\r\nX: " + field + "\r\n\r\n"), 431, "");
}

TEST_F(RefusalTest, AnswersNothingBehindASmugglingAttempt) {
  const std::string smuggled = Answer(
      "POST /v1/ratelimit/check HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n"
      "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
      CheckOf(1));
  EXPECT_THAT(StatusesIn(smuggled), ElementsAre(400));
  EXPECT_EQ(store_.charged, 0);
}

TEST_F(RefusalTest, KeepsServingAfterAProblemThatLeavesTheFramingIntact) {
  EXPECT_THAT(StatusesIn(Answer(Check("nonsense") + Get("/nowhere") + CheckOf(1))),
              ElementsAre(400, 404, 200));
}

TEST_F(RefusalTest, AnswersHeadLikeGetWithoutABody) {
  const std::string head = Answer(Get("/v1/ratelimit/status/u", "HEAD"));
  EXPECT_THAT(head, HasSubstr("X-RateLimit-Limit: 1000000\r\n"));
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
}

TEST_F(RefusalTest, StatusSpendsNothing) {
  EXPECT_THAT(Answer(Get("/v1/ratelimit/status/u%20x?plan=pro")), HasSubstr(R"("name": "r")"));
  ExpectProblem(Answer(Get("/v1/ratelimit/status?user_id=%zz")), 400, "invalid_query");
  ExpectProblem(Answer(Get("/v1/ratelimit/status/u?cost=-1")), 400, "invalid_cost");
  EXPECT_EQ(store_.charged, 0);
}

TEST_F(RefusalTest, WantsTheTokenForAllButHealth) {
  settings_.role = Role::kAdmin;
  const AccessToken token("secret");
  settings_.token = &token;
  const auto with = [](const std::string& shown) {
    return "GET /metrics HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + shown + "\r\n\r\n";
  };
  EXPECT_THAT(Answer(Get("/metrics")), HasSubstr("WWW-Authenticate: Bearer\r\n"));
  ExpectProblem(Answer(with("secreT")), 401, "");
  ExpectProblem(Answer(with("secret2")), 401, "");
  EXPECT_THAT(Answer(with("secret2")), HasSubstr("WWW-Authenticate: Bearer error="));
  EXPECT_THAT(Answer(with("secret")), HasSubstr("sluice_requests_total"));
  EXPECT_THAT(Answer(Get("/healthz")), HasSubstr("200 OK"));
  ExpectProblem(Answer(Get("/readyz")), 503, "not_ready");
}

TEST_F(RefusalTest, AnAdminListenerKeepsWebPagesOut) {
  settings_.role = Role::kAdmin;
  settings_.host_names = {.address = "127.0.0.1:6070", .names = {"sluice.internal"}};
  const auto get = [](const std::string& fields) {
    return "GET /metrics HTTP/1.1\r\n" + fields + "\r\n";
  };
  EXPECT_THAT(Answer(get("Host: localhost:6070\r\n")), HasSubstr("200 OK"));
  EXPECT_THAT(Answer(get("Host: sluice.internal\r\n")), HasSubstr("200 OK"));
  ExpectProblem(Answer(get("Host: evil.example\r\n")), 403, "Host");
  ExpectProblem(Answer(get("Host: localhost\r\nOrigin: https://evil.example\r\n")), 403, "page");
  ExpectProblem(Answer(get("Host: localhost\r\nSec-Fetch-Site: cross-site\r\n")), 403, "page");
  const auto unban = [](const std::string& fields) {
    return "POST /v1/ratelimit/unban HTTP/1.1\r\nHost: localhost\r\n" + fields +
           "Content-Length: 15\r\n\r\n{\"user_id\": \"u\"}";
  };
  ExpectProblem(Answer(unban("Content-Type: text/plain\r\n")), 415, "application/json");
  ExpectProblem(Answer(unban("")), 415, "application/json");
  EXPECT_THAT(Answer(unban("Content-Type: application/json\r\n")),
              testing::Not(HasSubstr(" 415 ")));
  // Whoever looks whether it is alive may call it as it likes.
  EXPECT_THAT(Answer("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n"), HasSubstr("200 OK"));
}

TEST_F(RefusalTest, WhoShowsTheTokenMayCallAnAdminListenerAsItLikes) {
  settings_.role = Role::kAdmin;
  settings_.host_names = {.address = "10.0.0.1:6070", .names = {}};
  const AccessToken token("secret");
  settings_.token = &token;
  const std::string shown =
      "GET /metrics HTTP/1.1\r\nHost: any\r\nAuthorization: Bearer secret\r\n";
  EXPECT_THAT(Answer(shown + "\r\n"), HasSubstr("200 OK"));
  ExpectProblem(Answer(shown + "Origin: http://evil.example\r\n\r\n"), 403, "page");
}

TEST_F(RefusalTest, APageSpendsNothingAtACheckListener) {
  const std::string body = R"({"user_id": "u"})";
  ExpectProblem(Answer(Check(body, "Origin: https://evil.example\r\n")), 403, "page");
  ExpectProblem(Answer(Check(body, "Sec-Fetch-Site: cross-site\r\n")), 403, "page");
  EXPECT_EQ(store_.charged, 0);
  // What a proxy asks has the fields of its client, who may well be on another site.
  EXPECT_THAT(Answer("POST /v1/check/http/x HTTP/1.1\r\nHost: h\r\nSec-Fetch-Site: cross-site\r\n"
                     "Origin: https://evil.example\r\nContent-Length: 0\r\n\r\n"),
              HasSubstr("200 OK"));
}

TEST_F(RefusalTest, EveryAnswerIsCountedAndRefusalsOfRequestsAreLogged) {
  LoopAnswers answers;
  std::vector<std::string> lines;
  AnswerLog log([&lines](const AnswerLog::Line& line) {
    lines.push_back(std::to_string(line.status) + " " + std::string(line.peer));
  });
  settings_.answers = &answers;
  settings_.log = &log;
  Answer(Get("/nowhere") + Get("/nowhere") + Check("nonsense") + CheckOf(1));
  EXPECT_EQ(answers.Read(404), 2U);
  EXPECT_EQ(answers.Read(400), 1U);
  EXPECT_EQ(answers.Read(200), 1U);
  EXPECT_THAT(lines, ElementsAre("404 192.0.2.7", "400 192.0.2.7"));
  Answer("GET / HTTP/1.1\r\n\r\n");  // No request that could be routed.
  EXPECT_EQ(answers.Read(400), 2U);
}

TEST_F(RefusalTest, SurvivesAThousandStreamsOfGarbage) {
  MakeFrontEnd();
  store_.answer_at_once = true;
  std::mt19937 random(20'260'601);  // NOLINT(bugprone-random-generator-seed): the same every time.
  const std::string valid = CheckOf(3) + Get("/v1/ratelimit/status/u?a=b") + CheckOf(4);
  for (int stream = 0; stream < 1'000; ++stream) {
    std::string bytes = stream % 4 == 0 ? std::string(random() % 600, '\0') : valid;
    const std::size_t changes = stream % 4 == 0 ? bytes.size() : 1 + random() % 12;
    for (std::size_t i = 0; i < changes && !bytes.empty(); ++i) {
      bytes[stream % 4 == 0 ? i : random() % bytes.size()] = static_cast<char>(random() % 256);
    }
    const auto client = Connect();
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = 1 + random() % 200;
      client->Send(std::string_view(bytes).substr(at, size));
      Turn();
      at += size;
    }
    client->EndInput();
    Turn();
    for (const int status : StatusesIn(client->received())) {
      EXPECT_TRUE(status == 200 || (status >= 400 && status <= 505)) << status;
    }
  }
  EXPECT_EQ(front_end_->connections(), 0U);
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

}  // namespace
}  // namespace sluice::frontend::http
