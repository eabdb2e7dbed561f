#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/http/front_end_fixture.h"
#include "net/event_loop.h"

namespace sluice::frontend::http {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A store that denies, or allows, for a reason that the test sets, and keeps what it was asked.
class OneAnswerStore final : public store::KeyStore {
 public:
  void CheckMany(std::span<store::CheckCall* const> batch) override {
    for (store::CheckCall* call : batch) {
      call->now = WallInstant(std::chrono::seconds(1'714'473'600));
      for (std::size_t i = 0; i < call->checks.size(); ++i) {
        std::string key(call->checks[i].key.rule);
        for (const core::KeyPart& part : call->checks[i].key.parts) {
          key += " " + std::string(part.attribute) + "=" + std::string(part.value);
        }
        asked.push_back(key + " cost=" + std::to_string(call->checks[i].cost.units));
        call->answers[i] = store::CheckAnswer{};
        call->answers[i].decision = decision;
      }
      call->OnAnswered();
    }
  }
  void Refund(store::RefundCall& call) override { call.OnAnswered(); }
  void Reset(store::ResetCall& call) override { call.OnAnswered(); }
  void Release(store::HoldCall& call) override { call.OnAnswered(); }
  void Renew(store::HoldCall& call) override { call.OnAnswered(); }

  Decision decision{.allowed = true, .limit = 10, .remaining = 9};
  std::vector<std::string> asked;
};

class ProxyCheckTest : public testing::Test {
 protected:
  static Decision Denied(Reason reason, Duration retry_after) {
    return {.allowed = false,
            .reason = reason,
            .limit = 10,
            .remaining = 0,
            .retry_after = retry_after,
            .reset_after = std::chrono::seconds(60)};
  }

  void SetUp() override {
    rules::Findings findings;
    const rules::SourceText source{.name = "rules.yaml", .text = R"(
rules:
  - id: all
    key_pattern: "{ip} {method} {endpoint} {host}"
    algorithm: fixed_window
    limit: 10
    window: 1m
  - id: keyed
    match: {api_key: "*"}
    key_pattern: "{api_key}"
    algorithm: fixed_window
    limit: 10
    window: 1m
  - id: paid
    match: {zone: api}
    key_pattern: "{zone}"
    algorithm: fixed_window
    limit: 10
    window: 1m
    cost: tokens
    replaces: [all]
)"};
    auto set = rules::RuleSet::Build({&source, 1}, nullptr, findings);
    ASSERT_NE(set, nullptr) << findings.errors.front().Text();
    service_.SetRules(std::move(set));
    settings_.proxy.forwarding.trusted = {*rules::IpPrefix::Parse("192.0.2.0/24")};
    settings_.proxy.headers = {{"api_key", "X-Api-Key"}};
  }

  // What a proxy at 192.0.2.7 gets, for a request line and fields.
  std::string Answer(const std::string& line, const std::string& fields = "") {
    store_.asked.clear();
    front_end_ =
        std::make_unique<FrontEnd>(loop_, service_, registry_, readiness_, clock_, settings_);
    net::FakeClient client(loop_);
    front_end_->Accept(client.MakeTransport());
    client.Send(line + " HTTP/1.1\r\nHost: sluice:8080\r\n" + fields + "\r\n");
    while (loop_.Poll() > 0) {
    }
    std::string received = client.received();
    front_end_->CloseAll();
    while (loop_.Poll() > 0) {
    }
    return received;
  }

  net::EventLoop loop_;
  StoppedClock clock_;
  OneAnswerStore store_;
  service::ServiceMetrics metrics_;
  service::LimiterService service_{store_, metrics_};
  telemetry::Registry registry_;
  Readiness readiness_;
  FrontEndSettings settings_;
  std::unique_ptr<FrontEnd> front_end_;
};

TEST_F(ProxyCheckTest, YesIs200WithoutABody) {
  for (const char* method : {"GET", "POST", "HEAD", "PUT"}) {
    const std::string answer = Answer(std::string(method) + " /v1/check/http/x");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n")) << method;
    EXPECT_THAT(answer, HasSubstr("X-RL-Status: 200\r\n"));
    EXPECT_THAT(answer, HasSubstr("RateLimit: \"all\";r=9"));
    EXPECT_THAT(answer, HasSubstr("X-RateLimit-Remaining: 9\r\n"));
    EXPECT_TRUE(answer.ends_with("Content-Length: 0\r\n\r\n")) << answer;
  }
}

TEST_F(ProxyCheckTest, EveryRefusalHasTheStatusThatWasAskedForAndSaysItsOwn) {
  const struct {
    Reason reason;
    const char* own;
  } cases[] = {{Reason::kQuotaExceeded, "429"},
               {Reason::kBanned, "403"},
               {Reason::kStoreFull, "503"},
               {Reason::kStoreUnavailable, "503"}};
  for (const auto& each : cases) {
    store_.decision = Denied(each.reason, std::chrono::milliseconds(26'412));
    const std::string plain = Answer("GET /v1/check/http/x");
    EXPECT_THAT(plain, StartsWith("HTTP/1.1 429 ")) << each.own;
    EXPECT_THAT(plain, HasSubstr("X-RL-Status: " + std::string(each.own) + "\r\n"));
    EXPECT_THAT(plain, HasSubstr("Retry-After: 27\r\n"));
    EXPECT_THAT(plain, HasSubstr("Content-Type: application/problem+json\r\n"));
    EXPECT_THAT(plain, HasSubstr("violated-policies"));
    EXPECT_THAT(plain, HasSubstr("\"all\""));
    EXPECT_THAT(plain, HasSubstr("Cache-Control: no-store\r\n"));
    const std::string asked =
        Answer("GET /v1/check/http?deny_status=403", "X-Original-URI: /x\r\n");
    EXPECT_THAT(asked, StartsWith("HTTP/1.1 403 ")) << each.own;
    EXPECT_THAT(asked, HasSubstr("X-RL-Status: " + std::string(each.own) + "\r\n"));
  }
}

TEST_F(ProxyCheckTest, WhatNginxSaysOfARequestIsJudged) {
  Answer("GET /v1/check/http?deny_status=403",
         "X-Original-URI: /log%69n?next=%2F\r\nX-Original-Method: POST\r\n"
         "X-Forwarded-Host: example.org:443\r\nX-Forwarded-For: 198.51.100.9\r\n");
  EXPECT_THAT(store_.asked,
              testing::ElementsAre(
                  "all ip=198.51.100.9 method=POST endpoint=/login host=example.org cost=1"));
}

TEST_F(ProxyCheckTest, AMethodInOtherCaseIsTheSame) {
  for (const char* method : {"POST", "post", "PoSt"}) {
    const auto judged = testing::ElementsAre(HasSubstr("method=POST endpoint=/x "));
    Answer("GET /v1/check/http",
           "X-Original-URI: /x\r\nX-Original-Method: " + std::string(method) + "\r\n");
    EXPECT_THAT(store_.asked, judged) << method;
    Answer("GET /v1/check/http",
           "X-Forwarded-Uri: /x\r\nX-Forwarded-Method: " + std::string(method) + "\r\n");
    EXPECT_THAT(store_.asked, judged) << method;
    Answer(std::string(method) + " /v1/check/http/x");
    EXPECT_THAT(store_.asked, judged) << method;
  }
}

TEST_F(ProxyCheckTest, WhatCaddyAndTraefikSayIsJudged) {
  Answer("GET /v1/check/http",
         "X-Forwarded-Uri: /a/b?c=d\r\nX-Forwarded-Method: PUT\r\nX-Api-Key: k1\r\n"
         "X-Forwarded-Host: example.org\r\nX-Forwarded-For: 10.1.1.1, 198.51.100.9\r\n");
  EXPECT_THAT(
      store_.asked,
      testing::ElementsAre("all ip=198.51.100.9 method=PUT endpoint=/a/b host=example.org cost=1",
                           "keyed api_key=k1 cost=1"));
}

TEST_F(ProxyCheckTest, WhatEnvoyPutsBehindThePathIsJudgedAndItsQueryCommandsNothing) {
  Answer("DELETE /v1/check/http/orders/7?deny_status=403&cost=0&api_key=stolen");
  EXPECT_THAT(store_.asked,
              testing::ElementsAre("all ip=192.0.2.7 method=DELETE endpoint=/orders/7 host=sluice "
                                   "cost=1"));
}

TEST_F(ProxyCheckTest, TheQueryGivesAttributesAndACost) {
  Answer("GET /v1/check/http?zone=api&tokens=7&cost=3", "X-Original-URI: /x\r\n");
  EXPECT_THAT(store_.asked, testing::ElementsAre("paid zone=api cost=7"));
}

TEST_F(ProxyCheckTest, ARequestThatCannotBeJudgedIsRefusedAsWell) {
  for (const char* fields : {"X-Api-Key: \xff\r\n", "X-Original-URI: /x\r\n"}) {
    const std::string answer = Answer("GET /v1/check/http?zone=api&deny_status=403", fields);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 ")) << fields;
    EXPECT_THAT(answer, HasSubstr("X-RL-Status: 400\r\n"));
    EXPECT_THAT(answer, HasSubstr("invalid_request"));
  }
  EXPECT_THAT(Answer("GET /v1/check/http?endpoint=/y", "X-Original-URI: /x\r\n"),
              HasSubstr("X-RL-Status: 400\r\n"));
}

TEST_F(ProxyCheckTest, AClientsFieldsOfTheOtherFamilyDoNotCount) {
  const std::string both =
      "X-Forwarded-Uri: /login\r\nX-Forwarded-Method: POST\r\nX-Original-URI: /free\r\n";
  const std::string refused = Answer("GET /v1/check/http?deny_status=403", both);
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 500 "));  // No limit, and no proxy lets that pass.
  EXPECT_THAT(refused, HasSubstr("X-RL-Status: 500\r\n"));
  EXPECT_TRUE(store_.asked.empty());
  settings_.proxy.request_fields = RequestFields::kXForwarded;
  Answer("GET /v1/check/http", both);
  EXPECT_THAT(store_.asked, testing::Contains(HasSubstr("method=POST endpoint=/login")));
  settings_.proxy.request_fields = RequestFields::kXOriginal;
  Answer("GET /v1/check/http", both);
  EXPECT_THAT(store_.asked, testing::Contains(HasSubstr("method=GET endpoint=/free")));
  settings_.proxy.request_fields = RequestFields::kEither;
  Answer("PUT /v1/check/http/login", both + "X-Forwarded-Host: free.example\r\n");
  EXPECT_THAT(store_.asked, testing::Contains(HasSubstr("method=PUT endpoint=/login host=sluice")));
}

TEST_F(ProxyCheckTest, APathHasAValueHoweverBadlyItIsWritten) {
  Answer("GET /v1/check/http/%61dmin/%zz%ff%4");
  EXPECT_THAT(store_.asked, testing::Contains(HasSubstr("endpoint=/admin/%zz\xef\xbf\xbd%4 ")));
}

TEST_F(ProxyCheckTest, AWrongCommandIsTheConfigurationsFault) {
  EXPECT_THAT(Answer("GET /v1/check/http?deny_status=500"), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(Answer("GET /v1/check/http?cost=-1"), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(Answer("GET /v1/check/http?a=1&a=2"), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(Answer("GET /v1/check/httpx"), StartsWith("HTTP/1.1 404 "));
}

// A proxy that passes its client's query on as its own lets the client set cost and attributes.
TEST_F(ProxyCheckTest, AQueryThatIsTheClientsCommandsNothing) {
  for (const char* uri : {"/x?cost=0", "https://h/x?cost=0"}) {
    const std::string answer =
        Answer("GET /v1/check/http?cost=0", "X-Forwarded-Uri: " + std::string(uri) + "\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 ")) << uri;
    EXPECT_TRUE(store_.asked.empty());
  }
  Answer("GET /v1/check/http?zone=api&tokens=2", "X-Forwarded-Uri: /x?cost=0\r\n");
  EXPECT_THAT(store_.asked, testing::ElementsAre("paid zone=api cost=2"));
}

// The same where the proxy has members of its own around the client's.
TEST_F(ProxyCheckTest, ACostThatTheClientWroteIntoTheProxysQueryCountsNothing) {
  for (const char* query :
       {"zone=api&cost=0", "cost=0&zone=api", "zone=api&a=1&cost=0&b=2", "zone=api&c%6fst=0"}) {
    for (const char* uri :
         {"/x?cost=0", "/x?a=1&cost=0&b=2", "/x?c%6fst=0&cost=0", "/x?cost=0#f"}) {
      if (std::string(query).find('%') != std::string::npos &&
          std::string(uri).find('%') == std::string::npos) {
        continue;  // Not the client's.
      }
      EXPECT_THAT(Answer(std::string("GET /v1/check/http?") + query,
                         "X-Forwarded-Uri: " + std::string(uri) + "\r\n"),
                  StartsWith("HTTP/1.1 500 "))
          << query << " " << uri;
    }
  }
  EXPECT_TRUE(store_.asked.empty());
  Answer("GET /v1/check/http?zone=api&tokens=2&cost=3", "X-Forwarded-Uri: /x?cost=30&tokens=2\r\n");
  EXPECT_EQ(store_.asked.size(), 1U);
}

TEST_F(ProxyCheckTest, AFieldThatIsThereTwiceIsRefused) {
  settings_.proxy.trusted_headers = {{"plan", "X-Plan"}};
  for (const char* field : {"X-Original-URI: /a", "X-Original-Method: GET", "X-Forwarded-Host: a",
                            "X-Api-Key: k", "X-Plan: p"}) {
    const std::string line = std::string(field) + "\r\n";
    const std::string twice = Answer("GET /v1/check/http?deny_status=403", line + line);
    EXPECT_THAT(twice, StartsWith("HTTP/1.1 403 ")) << field;
    EXPECT_THAT(twice, HasSubstr("X-RL-Status: 400\r\n")) << field;
    EXPECT_TRUE(store_.asked.empty()) << field;
    EXPECT_THAT(Answer("GET /v1/check/http", line), StartsWith("HTTP/1.1 200 ")) << field;
  }
  EXPECT_THAT(Answer("GET /v1/check/http", "X-Forwarded-Host: evil.example, api.example\r\n"),
              HasSubstr("X-RL-Status: 400\r\n"));
}

TEST_F(ProxyCheckTest, ATextThatIsTooLongIsRefusedAndNotCut) {
  const std::string path = "/" + std::string(1024, 'p');
  EXPECT_THAT(Answer("GET /v1/check/http", "X-Original-URI: " + path + "\r\n"),
              HasSubstr("X-RL-Status: 400\r\n"));
  EXPECT_THAT(Answer("GET /v1/check/http", "X-Api-Key: " + path + "\r\n"),
              HasSubstr("X-RL-Status: 400\r\n"));
}

TEST_F(ProxyCheckTest, ATrustedHeaderCountsOnlyFromATrustedPeer) {
  settings_.proxy.headers = {};
  settings_.proxy.trusted_headers = {{"api_key", "X-Api-Key"}};
  Answer("GET /v1/check/http/x", "X-Api-Key: k\r\n");
  EXPECT_THAT(store_.asked, testing::Contains("keyed api_key=k cost=1"));
  settings_.proxy.forwarding.trusted = {*rules::IpPrefix::Parse("10.0.0.0/8")};
  Answer("GET /v1/check/http/x", "X-Api-Key: k\r\n");
  EXPECT_THAT(store_.asked, testing::Not(testing::Contains(HasSubstr("keyed"))));
}

TEST_F(ProxyCheckTest, AHostHasNoCaseNoPortAndNoDot) {
  for (const char* host : {"api.example", "API.Example", "api.example.", "Api.example.:443"}) {
    Answer("GET /v1/check/http",
           "X-Original-URI: /x\r\nX-Forwarded-Host: " + std::string(host) + "\r\n");
    EXPECT_THAT(store_.asked, testing::Contains(HasSubstr(" host=api.example cost"))) << host;
  }
}

TEST_F(ProxyCheckTest, StrictPathsAreOnePathHoweverWritten) {
  settings_.proxy.paths = {.strict = true, .fold_case = true};
  for (const char* path : {"/login", "//login", "/login/", "/LOGIN", "/./login", "/a/../login",
                           "/login;x=1", "/%6cogin", "/login?x=1", "/login#x", "/%2e/login"}) {
    Answer("GET /v1/check/http", "X-Original-URI: " + std::string(path) + "\r\n");
    EXPECT_THAT(store_.asked, testing::Contains(HasSubstr("endpoint=/login host"))) << path;
  }
  Answer("GET /v1/check/http//a/./LOGIN;x");  // As Envoy puts it.
  EXPECT_THAT(store_.asked, testing::Contains(HasSubstr("endpoint=/a/login host")));
  for (const char* path : {"/a%2flogin", "/login%00", "/a/..;/login", "/a\\login"}) {
    const std::string answer = Answer("GET /v1/check/http?deny_status=403",
                                      "X-Original-URI: " + std::string(path) + "\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 ")) << path;
    EXPECT_THAT(answer, HasSubstr("X-RL-Status: 400\r\n")) << path;
  }
}

TEST_F(ProxyCheckTest, BytesThatNoUriHasAreAPathAllTheSame) {
  Answer("GET /v1/check/http", "X-Original-URI: /api/\xe9 x\r\n");
  EXPECT_THAT(store_.asked, testing::Contains(HasSubstr("endpoint=/api/\ufffd x ")));
}

// The proxy's client reads it: what operators have to do stands in the log.
TEST_F(ProxyCheckTest, ARefusalTellsItsReaderNothingOfTheConfiguration) {
  std::vector<std::string> lines;
  AnswerLog log([&lines](const AnswerLog::Line& line) { lines.emplace_back(line.detail); });
  settings_.log = &log;
  EXPECT_THAT(Answer("GET /v1/check/http", "X-Api-Key: a\r\nX-Api-Key: b\r\n"),
              Not(HasSubstr("Api-Key")));
  EXPECT_THAT(Answer("GET /v1/check/http", "X-Original-URI: /x\r\nX-Forwarded-Uri: /x\r\n"),
              Not(HasSubstr("Forwarded")));
  EXPECT_THAT(Answer("GET /v1/check/http?zone=api"), Not(HasSubstr("tokens")));
  EXPECT_THAT(lines, testing::ElementsAre(HasSubstr("X-Api-Key is given twice"),
                                          HasSubstr("request_fields")));
}

TEST_F(ProxyCheckTest, AStrangersWordAboutAddressesIsPassedOverCountedAndToldOnce) {
  ForwardingNotes notes;
  std::vector<std::string> told;
  notes.on_first = [&](std::string_view peer) { told.emplace_back(peer); };
  settings_.proxy.notes = &notes;
  settings_.proxy.forwarding.trusted = {*rules::IpPrefix::Parse("10.0.0.0/8")};
  for (int i = 0; i < 3; ++i) {
    Answer("GET /v1/check/http/x", "X-Forwarded-For: 198.51.100.9\r\n");
    EXPECT_THAT(store_.asked.at(0), HasSubstr("ip=192.0.2.7 "));
  }
  EXPECT_EQ(notes.untrusted, 3U);
  EXPECT_THAT(told, testing::ElementsAre("192.0.2.7"));
}

TEST_F(ProxyCheckTest, GrpcIsRefusedInItsWords) {
  store_.decision = Denied(Reason::kQuotaExceeded, std::chrono::seconds(1));
  const std::string answer =
      Answer("POST /v1/check/http/pkg.Service/Call", "Content-Type: application/grpc\r\n");
  EXPECT_THAT(answer, HasSubstr("grpc-status: 8\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: application/grpc\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("violated-policies")));
}

TEST_F(ProxyCheckTest, ABrowsersScriptMayReadARefusalWhereItsOriginIsKnown) {
  settings_.proxy.cors_origins = {"https://app.example"};
  store_.decision = Denied(Reason::kQuotaExceeded, std::chrono::seconds(1));
  const std::string known = Answer("GET /v1/check/http/x", "Origin: https://app.example\r\n");
  EXPECT_THAT(known, HasSubstr("Access-Control-Allow-Origin: https://app.example\r\n"));
  EXPECT_THAT(
      known,
      HasSubstr("Access-Control-Expose-Headers: Retry-After, X-Request-Id, X-RateLimit-Limit"));
  EXPECT_THAT(Answer("GET /v1/check/http/x", "Origin: https://evil.example\r\n"),
              Not(HasSubstr("Access-Control")));
  const std::string preflight =
      "X-Forwarded-Method: OPTIONS\r\nX-Forwarded-Uri: /x\r\nX-Forwarded-Host: shop.example\r\n"
      "Access-Control-Request-Method: PUT\r\n";
  EXPECT_THAT(Answer("GET /v1/check/http", preflight + "Origin: https://app.example\r\n"),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_TRUE(store_.asked.empty());
  EXPECT_THAT(Answer("GET /v1/check/http", preflight + "Origin: https://evil.example\r\n"),
              StartsWith("HTTP/1.1 429 "));
}

TEST_F(ProxyCheckTest, AListenerSpeaksTheDialectsThatItIsTold) {
  settings_.limit_headers = kNoLimitFields;
  EXPECT_THAT(Answer("GET /v1/check/http/x"), Not(HasSubstr("RateLimit")));
  settings_.limit_headers = kXRateLimitFields | kGithubFields;
  const std::string github = Answer("GET /v1/check/http/x");
  EXPECT_THAT(github, HasSubstr("X-RateLimit-Used: 1\r\nX-RateLimit-Resource: all\r\n"));
  EXPECT_THAT(github, Not(HasSubstr("RateLimit-Policy")));
}

}  // namespace
}  // namespace sluice::frontend::http
