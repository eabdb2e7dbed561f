#include "stated_limits.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::app {
namespace {

using testing::HasSubstr;
using testing::Not;

StatedDecision Read(const std::string& text) {
  const auto response = ReadPastedResponse(text);
  return response ? ReadStatedDecision(*response) : StatedDecision{};
}

// As `curl -i` prints it; every line end is CRLF up to the body.
constexpr const char* kCheck =
    "HTTP/1.1 429 Too Many Requests\r\n"
    "Date: Sun, 29 Nov 2026 14:03:00 GMT\r\n"
    "X-RateLimit-Limit: 150\r\n"
    "X-RateLimit-Remaining: 0\r\n"
    "X-RateLimit-Reset: 1796133900\r\n"
    "RateLimit-Policy: \"api_rate\";q=150;w=90, \"daily\";q=1000;w=86400\r\n"
    "RateLimit: \"api_rate\";r=0;t=1, \"daily\";r=812;t=35820\r\n"
    "Retry-After: 13\r\n"
    "X-Request-Id: 0af7651916cd43dd8448eb211c80319c\r\n"
    "Content-Type: application/json\r\n"
    "\r\n"
    R"({"allowed": false, "remaining": 0, "reset_at": 1796133900, "retry_after": 13,)"
    R"( "retry_after_ms": 12300, "limits": [{"name": "api_rate", "allowed": false, "limit": 150,)"
    R"( "remaining": 0, "reset_at": 1796133900, "reason": "quota_exceeded", "retry_after_ms": 12300},)"
    R"( {"name": "daily", "allowed": true, "limit": 1000, "remaining": 812, "reset_at": 1}]})";

TEST(StatedLimitsTest, TheBodyOfACheckNamesTheRule) {
  const StatedDecision stated = Read(kCheck);
  EXPECT_TRUE(stated.denied);
  EXPECT_EQ(stated.status, 429);
  EXPECT_EQ(stated.rule, "api_rate");
  EXPECT_EQ(stated.reason, "quota_exceeded");
  EXPECT_EQ(stated.evidence, "the body's limits");
  EXPECT_EQ(stated.limit, 150);
  EXPECT_EQ(stated.remaining, 0);
  EXPECT_EQ(stated.reset_at, 1796133900);
  EXPECT_EQ(stated.retry_after_seconds, 13);
  EXPECT_EQ(stated.dated, 1795960980);
  EXPECT_EQ(stated.request_id, "0af7651916cd43dd8448eb211c80319c");
  ASSERT_EQ(stated.limits.size(), 2U);
  EXPECT_TRUE(stated.limits[0].denies);
  EXPECT_EQ(stated.limits[0].window_seconds, 90);
  EXPECT_EQ(stated.limits[0].more_after_seconds, 1);
  EXPECT_FALSE(stated.limits[1].denies);
  EXPECT_EQ(stated.limits[1].remaining, 812);
}

TEST(StatedLimitsTest, WithoutItsBodyTheOnlyPolicyWithNothingLeftIsTheRule) {
  // As HTTP/2 has it: lower case, no reason phrase, one line end.
  const StatedDecision stated = Read(
      "HTTP/2 429 \n"
      "ratelimit-policy: \"api_rate\";q=150;w=90, \"daily\";q=1000;w=86400\n"
      "ratelimit: \"api_rate\";r=0;t=1, \"daily\";r=812;t=35820\n"
      "retry-after: 13\n");
  EXPECT_EQ(stated.status, 429);
  EXPECT_EQ(stated.rule, "api_rate");
  EXPECT_THAT(stated.evidence, HasSubstr("nothing left"));
}

TEST(StatedLimitsTest, OfTwoPoliciesWithNothingLeftTheNumbersTell) {
  const std::string policies =
      "ratelimit-policy: \"a\";q=10;w=60, \"b\";q=20;w=60\n"
      "ratelimit: \"a\";r=0;t=1, \"b\";r=0;t=2\n";
  const StatedDecision stated =
      Read("HTTP/2 429\nx-ratelimit-limit: 20\nx-ratelimit-remaining: 0\n" + policies);
  EXPECT_EQ(stated.rule, "b");
  EXPECT_EQ(Read("HTTP/2 429\n" + policies).rule, "");
}

// With a cost above 1 a rule denies while something is left.
TEST(StatedLimitsTest, APolicyWithTheNumbersOfXRateLimitIsTheRule) {
  EXPECT_EQ(Read("HTTP/1.1 429 Too Many Requests\n"
                 "X-RateLimit-Limit: 20\nX-RateLimit-Remaining: 3\n"
                 "RateLimit-Policy: \"a\";q=10;w=60, \"b\";q=20;w=60\n"
                 "RateLimit: \"a\";r=9;t=1, \"b\";r=3;t=2\n")
                .rule,
            "b");
}

TEST(StatedLimitsTest, AProblemDocumentNamesTheRule) {
  const StatedDecision stated = Read(
      "HTTP/1.1 403 Forbidden\r\nX-RL-Status: 429\r\nRetry-After: 7\r\n"
      "Content-Type: application/problem+json\r\n\r\n"
      R"({"type": "https://iana.org/assignments/http-problem-types#quota-exceeded", "title": "Quota)"
      R"( Exceeded", "status": 403, "detail": "login denies: quota_exceeded", "code":)"
      R"( "quota_exceeded", "violated-policies": ["per_ip", "login"]})");
  EXPECT_EQ(stated.status, 429) << "what it was before the proxy's 403";
  EXPECT_EQ(stated.rule, "login");
  EXPECT_EQ(stated.reason, "quota_exceeded");
  EXPECT_EQ(stated.evidence, "the problem document");
  ASSERT_EQ(stated.limits.size(), 2U);
  EXPECT_TRUE(stated.limits[0].denies && stated.limits[1].denies);
}

TEST(StatedLimitsTest, GrpcAndGithubNameTheRuleInAField) {
  EXPECT_EQ(Read("HTTP/2 200\ngrpc-status: 8\nretry-after: 2\n"
                 "grpc-message: login denies: quota_exceeded\n")
                .rule,
            "login");
  EXPECT_FALSE(Read("HTTP/2 200\ngrpc-status: 0\nx-ratelimit-limit: 5\n").denied);
  EXPECT_EQ(Read("HTTP/2 429\ngrpc-status: 8\ngrpc-message: login denies: quota_exceeded\n").rule,
            "login");
  EXPECT_EQ(Read("HTTP/2 429\nx-ratelimit-resource: core\n").rule, "core");
}

TEST(StatedLimitsTest, WhatCurlPrintsAroundAResponseIsSkipped) {
  const StatedDecision stated = Read(
      "*   Trying 127.0.0.1:8080...\n* Connected to localhost\n> POST /v1/ratelimit/check "
      "HTTP/1.1\n"
      "> Host: localhost:8080\n>\n< HTTP/1.1 100 Continue\n<\n} [25 bytes data]\n"
      "< HTTP/1.1 429 Too Many Requests\n< X-RateLimit-Limit: 5\n< Retry-After: 3\n<\n"
      "{ [80 bytes data]\n"
      R"({"allowed": false, "limits": [{"name": "a", "allowed": false, "reason": "in_flight",)"
      R"( "retry_after_ms": null}]}* Connection #0 to host localhost left intact)");
  EXPECT_EQ(stated.status, 429);
  EXPECT_EQ(stated.limit, 5);
  EXPECT_EQ(stated.rule, "a");
  EXPECT_EQ(stated.reason, "in_flight");
}

TEST(StatedLimitsTest, OfSeveralResponsesTheLastCounts) {
  const StatedDecision stated = Read(
      "HTTP/1.1 302 Found\r\nX-RateLimit-Limit: 1\r\nLocation: /\r\n\r\n"
      "HTTP/1.1 429 Too Many Requests\r\nX-RateLimit-Limit: 2\r\n\r\n");
  EXPECT_EQ(stated.status, 429);
  EXPECT_EQ(stated.limit, 2);
}

TEST(StatedLimitsTest, OfDenyingRulesTheOneThatWaitsLongestGoverns) {
  EXPECT_EQ(Read(R"({"allowed": false, "limits": [
      {"name": "a", "allowed": false, "reason": "quota_exceeded", "retry_after_ms": 9},
      {"name": "b", "allowed": false, "reason": "limit_zero", "retry_after_ms": null},
      {"name": "c", "allowed": false, "reason": "quota_exceeded", "retry_after_ms": 99},
      {"name": "d", "allowed": false, "shadow": true, "reason": "limit_zero",
       "retry_after_ms": null}]})")
                .rule,
            "b");
}

TEST(StatedLimitsTest, HeaderLinesAloneWithRetryAfterAreADenial) {
  const StatedDecision stated = Read("Retry-After: 13\nX-RateLimit-Limit: 150\n");
  EXPECT_TRUE(stated.denied);
  EXPECT_FALSE(Read("X-RateLimit-Limit: 150\n").denied);
  EXPECT_FALSE(Read("HTTP/1.1 200 OK\nX-RateLimit-Limit: 150\nX-RateLimit-Remaining: 0\n").denied);
}

TEST(StatedLimitsTest, GarbageIsRefusedOrReadAsNothing) {
  for (const char* const text : {"", "\n\n", "no response at all", "<html></html>\n", "\xff\xfe"}) {
    EXPECT_FALSE(ReadPastedResponse(text)) << text;
  }
  for (const char* const text : {"Server: nginx\r\n\r\n<html>429</html>", "{",
                                 "{\"allowed\": ", "HTTP/1.1 200 OK\nA: b\n"}) {
    EXPECT_FALSE(Read(text).is_of_a_limit()) << text;
  }
  const StatedDecision stated = Read(
      "HTTP/1.1 429 x\nX-RateLimit-Limit: many\nX-RateLimit-Reset: 99999999999999999999\n"
      "Retry-After: -5\nDate: yesterday\nRateLimit: \"a\";r=\nRateLimit-Policy: \"a\";q=5;w=1\n");
  EXPECT_FALSE(stated.limit || stated.reset_at || stated.retry_after_seconds || stated.dated);
  ASSERT_EQ(stated.limits.size(), 1U);
  EXPECT_FALSE(stated.limits[0].remaining) << "a malformed field is ignored as a whole";
}

TEST(StatedLimitsTest, EnvoysOwnNumbersAreRead) {
  const StatedDecision stated = Read(
      "HTTP/1.1 429 Too Many Requests\r\nx-envoy-ratelimited: true\r\n"
      "x-ratelimit-limit: 10, 10;w=60;name=\"shop\"\r\nx-ratelimit-remaining: 0\r\n");
  EXPECT_EQ(stated.limit, 10);
  EXPECT_TRUE(stated.from_envoy);
  EXPECT_THAT(TellStatedDecision(stated, 0), HasSubstr("--domain"));
}

TEST(StatedLimitsTest, APartitionKeyIsShown) {
  const StatedDecision stated = Read("HTTP/1.1 429 x\nRateLimit: \"a\";r=0;t=5;pk=:dV80Mg==:\n");
  ASSERT_EQ(stated.limits.size(), 1U);
  EXPECT_EQ(stated.limits[0].partition, "u_42");
  EXPECT_THAT(TellStatedDecision(stated, 0), HasSubstr("partition u_42"));
}

TEST(StatedLimitsTest, TellsWhenItPassesByTheResponsesDate) {
  constexpr std::int64_t kAMinuteLater = 1795961040'000;
  EXPECT_EQ(TellStatedDecision(Read(kCheck), kAMinuteLater),
            "denied by api_rate (quota_exceeded), says the body's limits\n"
            "  status   429 Too Many Requests\n"
            "  sent     14:03:00.000 UTC, 1 min ago\n"
            "  limit    150, 0 left\n"
            "  passes   13 s after the response: at 14:03:13.000 UTC, 47 s ago\n"
            "  full     2026-12-01 14:05:00.000 UTC, in 2 d 1 h\n"
            "  rule     api_rate: limit 150 per 1 min 30 s, 0 left, more after 1 s  <- denies "
            "(quota_exceeded)\n"
            "  rule     daily: limit 1000 per 1 d, 812 left, more after 9 h 57 min\n"
            "  request  0af7651916cd43dd8448eb211c80319c\n");
}

TEST(StatedLimitsTest, ADenialWithoutATimeSaysSo) {
  EXPECT_THAT(TellStatedDecision(Read("HTTP/1.1 429 x\nX-RateLimit-Limit: 0\n"), 0),
              HasSubstr("no Retry-After"));
}

TEST(StatedLimitsTest, TextsOfAResponseAreMadeDisplayable) {
  const std::string text = TellStatedDecision(
      Read(
          "HTTP/1.1 429 x\nX-RateLimit-Resource: \x1b[2J\nX-Request-Id: \x1b]0;\nRetry-After: 1\n"),
      0);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(StatedLimitsTest, ScriptsGetTheSame) {
  std::string json;
  AppendStatedDecision(Read("HTTP/1.1 429 x\nX-RateLimit-Resource: core\nRetry-After: 5\n"), json);
  EXPECT_EQ(json, R"({"denied":true,"status":429,"rule_id":"core","evidence":)"
                  R"("X-RateLimit-Resource","retry_after":5,"limits":[{"rule_id":"core",)"
                  R"("denies":true}]})");
}

}  // namespace
}  // namespace sluice::app
