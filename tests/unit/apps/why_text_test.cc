#include "why_text.h"

#include <string>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recorded_decision.h"
#include "time_text.h"

namespace sluice::app {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::int64_t kNow = 1795960980'212;  // 2026-11-29 14:03:00.212 UTC.

// An answer with one rule, of which these are the members of its state besides `allowed`, and other
// members of its own.
boost::json::value Answer(bool allowed, const std::string& reason, const std::string& state,
                          const std::string& rule = "", const std::string& verdict = "") {
  return boost::json::parse(fmt::format(
      R"({{"scope": "node", "now_ms": {}, "verdict": {{"allowed": {}, "kill_switch": false,
          "rule_id": "api"{}{}}}, "store": {{"shared": true, "answered": true,
          "clock_offset_us": 310, "clock_error_us": 95}},
          "rules": [{{"rule_id": "api", "applies": true, "mode": "enforce",
          "configured_mode": "enforce", "place": "rules.yaml:3", "why": "the rule's own numbers",
          "algorithm": "token_bucket", "numbers": "100 per 1m, at most 150 at once",
          "numbers_from": "rule", "cost": 1, "key": "user_id=u_42", "sync": "exact",
          "on_store_error": "allow"{}, "state": {{"allowed": {}{}{}}}}}]}})",
      kNow, allowed, reason.empty() ? "" : ", \"reason\": \"" + reason + '"', verdict, rule,
      allowed, reason.empty() ? "" : ", \"reason\": \"" + reason + '"', state));
}

std::string SentenceOf(const boost::json::value& answer) {
  return WhySentence(JsonAnswer(answer));
}
std::string TextOf(const boost::json::value& answer) {
  return TellWhy(JsonAnswer(answer));
}

constexpr const char* kEmpty =
    R"(, "limit": 150, "used": 150, "remaining": 0, "retry_after_ms": 12300,
       "passes_at_ms": 1795960992512, "reset_after_ms": 90000, "reset_at_ms": 1795961070212,
       "degraded": false)";

TEST(WhyTextTest, ADenialSaysWhatIsUsedAndWhenItPasses) {
  EXPECT_EQ(SentenceOf(Answer(false, "quota_exceeded", kEmpty)),
            "denied by api: 150 of 150 used; passes in 12.3 s (at 14:03:12.512 UTC)");
}

TEST(WhyTextTest, TheWholeTextOfADenial) {
  EXPECT_EQ(
      TextOf(Answer(false, "quota_exceeded", kEmpty)),
      "denied by api: 150 of 150 used; passes in 12.3 s (at 14:03:12.512 UTC)\n"
      "  to let it pass now: sluice reset with these attributes\n"
      "\n"
      "  rule  verdict        used  left  passes in  full again in\n"
      "  api    denies  150 of 150     0     12.3 s     1 min 30 s\n"
      "\n"
      "api  (rules.yaml:3)\n"
      "  key      user_id=u_42; cost 1\n"
      "  numbers  token_bucket, 100 per 1m, at most 150 at once: the rule's own\n"
      "  store    on_store_error: allow\n"
      "\n"
      "store: shared, and it answered; its clock is 0.3 ms ahead of this node's (± 0.1 ms)\n");
}

TEST(WhyTextTest, EachReasonHasItsSentence) {
  const auto sentence = [](const char* reason, const std::string& rule = "") {
    return SentenceOf(Answer(false, reason,
                             R"(, "limit": 3, "used": 3, "remaining": 0, "retry_after_ms": null,
                                "passes_at_ms": null, "degraded": false)",
                             rule));
  };
  EXPECT_EQ(sentence("cost_exceeds_capacity"),
            "denied by api: the cost of 1 is above the limit of 3, so it can never pass");
  EXPECT_EQ(sentence("limit_zero"), "denied by api: its limit is 0, so nothing can pass");
  EXPECT_THAT(sentence("in_flight"), HasSubstr("passes when a hold is released or expires"));
  EXPECT_THAT(sentence("reserved"), HasSubstr("reserved for another priority"));
  EXPECT_THAT(sentence("store_unavailable"), HasSubstr("on_store_error is deny"));
  EXPECT_THAT(sentence("store_full"), HasSubstr("table is full"));
  EXPECT_EQ(sentence("deny_listed"), "denied by api: the rule's own numbers");
  EXPECT_EQ(sentence("some_new_reason"), "denied by api: some_new_reason");
}

TEST(WhyTextTest, ABanSaysSinceWhenWhyAndUntilWhen) {
  const auto answer =
      Answer(false, "banned",
             R"(, "limit": 10, "used": 10, "remaining": 0, "retry_after_ms": 870000,
         "passes_at_ms": 1795961850212, "degraded": false)",
             R"(, "ban": {"after": 20, "within_ms": 60000, "for_ms": 900000, "banned": true,
         "since_ms": 1795960950212, "until_ms": 1795961850212, "left_ms": 870000})");
  EXPECT_EQ(SentenceOf(answer),
            "denied by api: the key is banned since 14:02:30.212 UTC, after 20 denials within 1 "
            "min; passes in 14 min 30 s (at 14:17:30.212 UTC)");
  EXPECT_THAT(TextOf(answer), HasSubstr("sluice unban"));
  EXPECT_THAT(TextOf(answer), HasSubstr("until 14:17:30.212 UTC (14 min 30 s left)"));
}

TEST(WhyTextTest, WhatIsAllowedSaysWhatIsLeft) {
  EXPECT_EQ(SentenceOf(Answer(true, "", R"(, "limit": 150, "used": 63, "remaining": 87)")),
            "allowed by api: 87 of 150 left");
  EXPECT_EQ(SentenceOf(Answer(true, "", R"(, "limit": 150, "used": 63, "remaining": 87)", "",
                              R"(, "wait_ms": 250)")),
            "allowed after 250 ms by api: 87 of 150 left");
  EXPECT_EQ(SentenceOf(Answer(true, "", R"(, "limit": null)")),
            "allowed by api: no limit for this key");
  EXPECT_THAT(SentenceOf(Answer(true, "", R"(, "limit": 9, "degraded": true)")),
              HasSubstr("not counted, for the store does not answer"));
}

TEST(WhyTextTest, WithoutAJudgingRuleItSaysWhatDecides) {
  const auto of = [](const std::string& verdict) {
    return SentenceOf(boost::json::parse("{\"verdict\": {" + verdict + "}, \"rules\": []}"));
  };
  EXPECT_THAT(of(R"("allowed": true, "kill_switch": true)"),
              StartsWith("allowed: the kill switch"));
  EXPECT_EQ(of(R"("allowed": true, "rule_id": null)"),
            "allowed: no enforced rule applies to this request");
  EXPECT_EQ(of(R"("allowed": false, "request_error": "tokens is missing")"),
            "refused, for the request is wrong: tokens is missing");
}

TEST(WhyTextTest, PlansModesLeasesAndMemoryAreShown) {
  const std::string text = TextOf(
      Answer(false, "quota_exceeded", kEmpty,
             R"(, "numbers_from": "plan", "plan": "plan: pro", "numbers_place": "rules.yaml:9",
                "lease": {"held": 40, "loops": 2, "denied_for_ms": 80},
                "remembered_denial": {"left_ms": 12300})"));
  EXPECT_THAT(text, HasSubstr("plan with match plan: pro (rules.yaml:9)"));
  EXPECT_THAT(text, HasSubstr("this node holds 40 borrowed units"));
  EXPECT_THAT(text, HasSubstr("this node allows some requests"));
  EXPECT_THAT(text, HasSubstr("without the store the last denial counts for another 12.3 s"));
}

TEST(WhyTextTest, RulesThatDoNotApplyAreListedWithTheReason) {
  const auto answer = boost::json::parse(
      R"({"now_ms": 0, "verdict": {"allowed": true}, "store": {"shared": false}, "rules": [
          {"rule_id": "login", "applies": false, "mode": "off", "configured_mode": "enforce",
           "place": "rules.yaml:20", "why": "its mode is off"}]})");
  EXPECT_THAT(TextOf(answer),
              HasSubstr("do not apply:\n  login                    its mode is off (mode off is "
                        "set at run time)  (rules.yaml:20)\n"));
  EXPECT_THAT(TextOf(answer), HasSubstr("this node's table"));
}

TEST(WhyTextTest, TextsOfClientsAreMadeDisplayable) {
  EXPECT_THAT(TextOf(Answer(false, "quota_exceeded", kEmpty, ", \"key\": \"user_id=\\u001b[2J\"")),
              Not(HasSubstr("\x1b")));
}

TEST(WhyTextTest, AnEmptyAnswerIsNoFault) {
  EXPECT_FALSE(TextOf(boost::json::parse("{}")).empty());
  EXPECT_FALSE(TextOf(boost::json::parse("[1]")).empty());
}

// As docs/http-api.md shows it.
TEST(RecordedDecisionTest, SaysWhenWhereAndByWhichRule) {
  const auto record = boost::json::parse(
      R"({"time": "2026-11-29T14:02:00.123456789Z", "request_id": "9f86d081", "listener":
          "127.0.0.1:8080", "judged_by": "rules", "allowed": false, "cost": 1, "decisions": [
          {"rule": "daily", "key": {"user_id": "u_42"}, "outcome": "allowed", "limit": 900,
           "remaining": 12, "cost": 1, "charged": false, "reset_after_ms": 60000},
          {"rule": "api_rate", "key": {"user_id": "u_42", "plan": "p"}, "outcome": "denied", "limit":
           150, "remaining": 0, "cost": 1, "charged": false, "reason": "quota_exceeded",
           "retry_after_ms": 26412, "reset_after_ms": 60000, "lease": true},
          {"rule": "quiet", "key": {}, "outcome": "shadow_denied", "limit": 1, "remaining": 0,
           "cost": 1, "charged": false, "reason": "limit_zero", "retry_after_ms": null}]})");
  EXPECT_EQ(
      TellRecordedDecision(JsonAnswer(record), kNow),
      "request 9f86d081 was decided at 14:02:00.123 UTC, 1 min 1 s ago, on 127.0.0.1:8080\n"
      "  it was denied by api_rate (quota_exceeded), and to wait 26.5 s: until 14:02:26.535 "
      "UTC, 33.7 s ago\n"
      "  daily                    allowed        user_id=u_42; cost 1; 12 of 900 left\n"
      "  api_rate                 denied         user_id=u_42 plan=p; cost 1; 0 of 150 left; "
      "sync: lease\n"
      "  quiet                    shadow_denied  one key that all share; cost 1; 0 of 1 left\n");
}

TEST(RecordedDecisionTest, WhatIsMissingIsNoFault) {
  EXPECT_FALSE(TellRecordedDecision(JsonAnswer(boost::json::parse("{}")), kNow).empty());
  EXPECT_THAT(TellRecordedDecision(
                  JsonAnswer(boost::json::parse(R"({"allowed": true, "time": "soon"})")), kNow),
              HasSubstr("decided at soon, on \n  it was allowed: no rule applied\n"));
}

TEST(TimeTextTest, WaitsAreRoundedUpInTwoUnits) {
  EXPECT_EQ(WaitText(-5), "0 ms");
  EXPECT_EQ(WaitText(999), "999 ms");
  EXPECT_EQ(WaitText(12'345), "12.4 s");
  EXPECT_EQ(WaitText(13'000), "13 s");
  EXPECT_EQ(WaitText(60'000), "1 min");
  EXPECT_EQ(WaitText(90'001), "1 min 31 s");
  EXPECT_EQ(WaitText(3'600'001), "1 h 1 min");
  EXPECT_EQ(WaitText(86'400'001), "1 d 1 h");
}

TEST(TimeTextTest, ADateIsSaidWhereItIsNotToday) {
  EXPECT_EQ(ClockText(kNow, kNow), "14:03:00.212 UTC");
  EXPECT_EQ(ClockText(kNow + 86'400'000, kNow), "2026-11-30 14:03:00.212 UTC");
  EXPECT_EQ(ClockText(INT64_MAX, kNow), "Unix time 9223372036854775");
  EXPECT_EQ(DistanceText(kNow - 250, kNow), "250 ms ago");
  EXPECT_EQ(DistanceText(kNow + 250, kNow), "in 250 ms");
}

}  // namespace
}  // namespace sluice::app
