#include "frontend/http/answer.h"

#include <gtest/gtest.h>

#include "frontend/key_token.h"
#include "support/manual_clock.h"
#include "unit/frontend/http/verdicts.h"

namespace sluice::frontend::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

std::string AnswerOf(const service::Verdict& verdict, bool waited = false) {
  std::string out;
  AppendAnswer(verdict, {.waited = waited}, out);
  return out;
}

TEST(AnswerTest, SaysWhatIsLeftOfAnAllowedCheck) {
  Verdicts v;
  v.Add("api_rate", Bucket(100, minutes(1), 150),
        {.allowed = true, .limit = 150, .remaining = 87, .reset_after = milliseconds(59'400)});
  EXPECT_EQ(AnswerOf(v.verdict),
            R"({"allowed": true, "remaining": 87, "reset_at": 1714473660, "limits": [)"
            R"({"name": "api_rate", "allowed": true, "limit": 150, "remaining": 87, )"
            R"("reset_at": 1714473660}]})");
}

TEST(AnswerTest, GivesADeniedLimitItsReasonAndEachItsOwnWait) {
  Verdicts v;
  v.Add("second", Window(1, seconds(1)), {.allowed = true, .limit = 1, .remaining = 1});
  v.Add("day", Window(5, seconds(86'400)),
        {.allowed = false,
         .reason = Reason::kQuotaExceeded,
         .limit = 5,
         .remaining = 0,
         .retry_after = Duration(26'411'000'001),
         .reset_after = Duration(26'411'000'001)});
  EXPECT_EQ(AnswerOf(v.verdict),
            R"({"allowed": false, "remaining": 0, "reset_at": 1714473627, "retry_after": 27, )"
            R"("retry_after_ms": 26412, "limits": [)"
            R"({"name": "second", "allowed": true, "limit": 1, "remaining": 1, )"
            R"("reset_at": 1714473600}, )"
            R"({"name": "day", "allowed": false, "limit": 5, "remaining": 0, )"
            R"("reset_at": 1714473627, "reason": "quota_exceeded", "retry_after_ms": 26412}]})");
}

TEST(AnswerTest, SaysNullForWhatCanNeverPass) {
  Verdicts v;
  v.Add("r", Window(10, seconds(60)),
        {.allowed = false,
         .reason = Reason::kCostExceedsCapacity,
         .limit = 10,
         .remaining = 7,
         .retry_after = Decision::kNever,
         .reset_after = seconds(60)});
  EXPECT_EQ(AnswerOf(v.verdict),
            R"({"allowed": false, "remaining": 7, "reset_at": 1714473660, "retry_after": null, )"
            R"("retry_after_ms": null, "limits": [)"
            R"({"name": "r", "allowed": false, "limit": 10, "remaining": 7, )"
            R"("reset_at": 1714473660, "reason": "cost_exceeds_capacity", )"
            R"("retry_after_ms": null}]})");
}

TEST(AnswerTest, SaysAtLeastOneSecondWhereTheWaitIsShorter) {
  Verdicts v;
  v.Add("r", Bucket(50, seconds(1), 100),
        {.allowed = false,
         .reason = Reason::kQuotaExceeded,
         .limit = 100,
         .retry_after = milliseconds(20),
         .reset_after = seconds(2)});
  EXPECT_NE(AnswerOf(v.verdict).find(R"("retry_after": 1, "retry_after_ms": 20,)"),
            std::string::npos);
}

TEST(AnswerTest, SaysNullForTheNumbersOfAnUnlimitedRule) {
  Verdicts v;
  core::Quota unlimited;
  unlimited.unlimited = true;
  v.Add("free", unlimited, {.allowed = true, .limit = kUnlimited, .remaining = kUnlimited});
  EXPECT_EQ(AnswerOf(v.verdict),
            R"({"allowed": true, "remaining": null, "reset_at": null, "limits": [)"
            R"({"name": "free", "allowed": true, "limit": null, "remaining": null, )"
            R"("reset_at": null}]})");
}

TEST(AnswerTest, HasNoLimitsWhereNoRuleApplies) {
  service::Verdict none;
  EXPECT_EQ(AnswerOf(none),
            R"({"allowed": true, "remaining": null, "reset_at": null, "limits": []})");
}

TEST(AnswerTest, MarksShadowDegradedAndShaped) {
  Verdicts v;
  v.Add("shaped", Bucket(10, seconds(1), 5),
        {.allowed = true,
         .limit = 5,
         .remaining = 3,
         .reset_after = milliseconds(200),
         .wait = Duration(100'000'001)});
  v.Add("tried", Window(1, seconds(1)),
        {.allowed = false,
         .reason = Reason::kQuotaExceeded,
         .shadow = true,
         .limit = 1,
         .retry_after = milliseconds(1),
         .reset_after = milliseconds(1)});
  v.Add("blind", Window(1, seconds(1)),
        {.allowed = true, .degraded = true, .limit = 1, .remaining = 9});
  const std::string answer = AnswerOf(v.verdict);
  EXPECT_TRUE(answer.starts_with(R"({"allowed": true, "remaining": 3, )")) << answer;
  EXPECT_NE(answer.find(R"("reset_at": 1714473601, "wait_ms": 101, "limits")"), std::string::npos)
      << answer;
  EXPECT_NE(answer.find(R"("retry_after_ms": 1, "shadow": true})"), std::string::npos) << answer;
  EXPECT_NE(answer.find(R"("degraded": true}])"), std::string::npos) << answer;
  EXPECT_NE(AnswerOf(v.verdict, true).find(R"("wait_ms": 101, "waited": true)"), std::string::npos);
}

TEST(AnswerTest, GivesHoldsWithTheirKeyAsText) {
  Verdicts v;
  v.Add("slots", InFlight(2, seconds(30)), {.allowed = true, .limit = 2, .remaining = 1}).hold =
      18'446'744'073'709'551'615U;
  const support::ManualClock clock;
  const signing::Keyring keys(signing::Derive("node", ""), clock);
  std::string token;
  AppendHoldToken(keys, v.verdict.decisions[0], token);
  std::string answer;
  AppendAnswer(v.verdict, {.keys = &keys}, answer);
  EXPECT_TRUE(answer.ends_with(R"(], "holds": [{"name": "slots", "id": ")" + token + R"("}]})"))
      << answer;
}

// Denied, peeked or decided without the store: a client finds a list all the same.
TEST(AnswerTest, HasAnEmptyListWhereNoHoldWasGranted) {
  Verdicts v;
  v.Add("slots", InFlight(2, seconds(30)), {.allowed = true, .degraded = true, .limit = 2});
  EXPECT_TRUE(AnswerOf(v.verdict).ends_with(R"("degraded": true}], "holds": []})"));
  Verdicts none;
  none.Add("api", Window(2, seconds(30)), {.allowed = true, .limit = 2, .remaining = 1});
  EXPECT_EQ(AnswerOf(none.verdict).find("holds"), std::string::npos);
}

TEST(AnswerTest, DoesNotWobbleWhereAWindowEndsOnAWholeSecond) {
  for (const std::int64_t tremble : {-40, 0, 40, 900'000}) {
    Verdicts v(1'714'473'600'500'000'000 + tremble);
    v.Add("r", Window(10, seconds(60)),
          {.allowed = true, .limit = 10, .remaining = 9, .reset_after = Duration(59'500'000'000)});
    EXPECT_NE(AnswerOf(v.verdict).find(R"("reset_at": 1714473660,)"), std::string::npos);
  }
}

}  // namespace
}  // namespace sluice::frontend::http
