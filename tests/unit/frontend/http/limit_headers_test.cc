#include "frontend/http/limit_headers.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/frontend/http/verdicts.h"

namespace sluice::frontend::http {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

std::string FieldsOf(const service::Verdict& verdict, std::uint8_t groups = kDefaultLimitFields) {
  std::string fields;
  AppendLimitFields(verdict, fields, groups);
  return fields;
}

std::string DraftOf(const service::Verdict& verdict) {
  const std::string fields = FieldsOf(verdict);
  return fields.substr(fields.find("RateLimit-Policy"));
}

TEST(LimitHeadersTest, SpeaksOfTheGoverningRuleAndListsAllInOrder) {
  Verdicts v;
  v.Add("sec", Window(10, seconds(1)),
        {.allowed = true, .limit = 10, .remaining = 9, .reset_after = milliseconds(400)});
  v.Add("day", Window(5, hours(24)),
        {.allowed = true, .limit = 5, .remaining = 4, .reset_after = hours(3)});
  EXPECT_EQ(FieldsOf(v.verdict),
            "X-RateLimit-Limit: 5\r\n"
            "X-RateLimit-Remaining: 4\r\n"
            "X-RateLimit-Reset: 1714484400\r\n"
            "RateLimit-Policy: \"sec\";q=10;w=1, \"day\";q=5;w=86400\r\n"
            "RateLimit: \"sec\";r=9;t=1, \"day\";r=4;t=10800\r\n");
}

TEST(LimitHeadersTest, GithubsFieldsSayWhatIsUsedAndByWhichRule) {
  Verdicts v;
  v.Add("core", Window(5, hours(24)),
        {.allowed = true, .limit = 5, .remaining = 2, .reset_after = hours(3)});
  EXPECT_EQ(FieldsOf(v.verdict, kXRateLimitFields | kGithubFields),
            "X-RateLimit-Limit: 5\r\n"
            "X-RateLimit-Remaining: 2\r\n"
            "X-RateLimit-Reset: 1714484400\r\n"
            "X-RateLimit-Used: 3\r\n"
            "X-RateLimit-Resource: core\r\n");
}

// A browser's script may read the fields that are listed, and no other.
TEST(LimitHeadersTest, EveryFieldOfEveryDialectIsListed) {
  Verdicts v;
  v.Add("core", Window(5, hours(24)),
        {.allowed = true, .limit = 5, .remaining = 2, .reset_after = hours(3)});
  for (const LimitDialect& dialect : kLimitDialects) {
    const std::string names = LimitFieldNames(dialect.fields) + ",";
    std::string rest = FieldsOf(v.verdict, dialect.fields);
    std::size_t listed = 0;
    while (!rest.empty()) {
      EXPECT_THAT(names, testing::HasSubstr(", " + rest.substr(0, rest.find(':')) + ","))
          << dialect.word;
      rest.erase(0, rest.find('\n') + 1);
      ++listed;
    }
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(names, ',')), listed + 1) << dialect.word;
  }
}

// A bucket of 150 at 100 a minute: q is the capacity, w the time to fill it.
TEST(LimitHeadersTest, NeverLetsABucketPromiseMoreThanItsRate) {
  Verdicts full;
  full.Add("b", Bucket(100, minutes(1), 150), {.allowed = true, .limit = 150, .remaining = 150});
  EXPECT_EQ(DraftOf(full.verdict),
            "RateLimit-Policy: \"b\";q=150;w=90\r\nRateLimit: \"b\";r=150;t=90\r\n");

  Verdicts some;
  some.Add("b", Bucket(100, minutes(1), 150),
           {.allowed = true, .limit = 150, .remaining = 87, .reset_after = milliseconds(37'800)});
  EXPECT_NE(DraftOf(some.verdict).find("\"b\";r=87;t=53"), std::string::npos);  // 87 / (100/60).
}

// With nothing left t is when the next unit comes, not when all have.
TEST(LimitHeadersTest, CountsToTheNextUnitOfAnEmptyBucket) {
  Verdicts v;
  v.Add("b", Bucket(1, seconds(10), 5),
        {.allowed = false,
         .reason = Reason::kQuotaExceeded,
         .limit = 5,
         .remaining = 0,
         .retry_after = Duration(3'200'000'000),
         .reset_after = Duration(43'200'000'000)});
  EXPECT_NE(DraftOf(v.verdict).find("\"b\";r=0;t=4\r\n"), std::string::npos);
}

TEST(LimitHeadersTest, GivesAFreshWindowItsWholeLength) {
  Verdicts v;
  v.Add("w", Window(5, minutes(1)), {.allowed = true, .limit = 5, .remaining = 5});
  EXPECT_NE(DraftOf(v.verdict).find("\"w\";r=5;t=60\r\n"), std::string::npos);
}

TEST(LimitHeadersTest, CountsConcurrentRequestsWithoutTime) {
  Verdicts v;
  v.Add("slots", InFlight(8, seconds(30)),
        {.allowed = true, .limit = 8, .remaining = 7, .reset_after = seconds(30)});
  EXPECT_EQ(DraftOf(v.verdict),
            "RateLimit-Policy: \"slots\";q=8;qu=\"concurrent-requests\"\r\n"
            "RateLimit: \"slots\";r=7\r\n");
}

TEST(LimitHeadersTest, LeavesOutTimeWhereNothingEverComesBack) {
  Verdicts v;
  v.Add("none", Bucket(0, seconds(1), 0),
        {.allowed = false, .reason = Reason::kLimitZero, .retry_after = Decision::kNever});
  EXPECT_EQ(DraftOf(v.verdict), "RateLimit-Policy: \"none\";q=0\r\nRateLimit: \"none\";r=0\r\n");
}

TEST(LimitHeadersTest, IsSilentOnShadowAndUnlimitedRules) {
  Verdicts v;
  v.Add("tried", Window(1, seconds(1)), {.allowed = true, .shadow = true, .limit = 1});
  core::Quota unlimited;
  unlimited.unlimited = true;
  v.Add("free", unlimited, {.allowed = true, .limit = kUnlimited, .remaining = kUnlimited});
  EXPECT_EQ(FieldsOf(v.verdict), "");
  EXPECT_EQ(FieldsOf(service::Verdict{}), "");
}

Decision Denied(Duration retry_after) {
  return {
      .allowed = false, .reason = Reason::kQuotaExceeded, .limit = 1, .retry_after = retry_after};
}

TEST(RetryAfterTest, RoundsUpAndIsNeverBelowOne) {
  for (const auto& [wait, seconds_told] : {std::pair{Duration(1), 1},
                                           {Duration(1'000'000'000), 1},
                                           {Duration(1'000'000'001), 2},
                                           {Duration(26'412'000'000), 27}}) {
    Verdicts v;
    v.Add("r", Window(1, seconds(60)), Denied(wait));
    EXPECT_EQ(RetryAfterSeconds(v.verdict, 0), seconds_told);
  }
}

TEST(RetryAfterTest, IsTheLongestOfTheDenyingRules) {
  Verdicts v;
  v.Add("a", Window(1, seconds(60)), Denied(seconds(7)));
  v.Add("b", Window(1, seconds(60)), Denied(seconds(40)));
  v.Add("c", Window(1, seconds(60)), {.allowed = true, .limit = 1});
  EXPECT_EQ(RetryAfterSeconds(v.verdict, 0), 40);
}

TEST(RetryAfterTest, IsAbsentWhereOneRuleNeverLetsItPass) {
  Verdicts v;
  v.Add("a", Window(1, seconds(60)), Denied(seconds(7)));
  v.Add("b", Window(1, seconds(60)), Denied(Decision::kNever));
  EXPECT_EQ(RetryAfterSeconds(v.verdict, 0), std::nullopt);
}

TEST(RetryAfterTest, IsOneWhereAllSlotsAreTaken) {
  Verdicts v;
  v.Add("slots", InFlight(1, seconds(60)),
        {.allowed = false,
         .reason = Reason::kInFlight,
         .limit = 1,
         .retry_after = Decision::kUnknown});
  EXPECT_EQ(RetryAfterSeconds(v.verdict, 0), 1);
}

TEST(RetryAfterTest, JittersUpwardOnly) {
  Verdicts v;
  v.Add("r", Window(1, seconds(60)), Denied(seconds(10)));
  v.rule(0).retry_jitter = seconds(5);
  bool moved = false;
  for (std::uint64_t random = 0; random < 10'000'000'000; random += 123'456'789) {
    const auto told = RetryAfterSeconds(v.verdict, random);
    ASSERT_TRUE(told);
    ASSERT_GE(*told, 10);
    ASSERT_LE(*told, 15);
    moved = moved || *told > 10;
  }
  EXPECT_TRUE(moved);
}

TEST(RetryAfterTest, IsAbsentFromWhatIsAllowed) {
  Verdicts v;
  v.Add("r", Window(1, seconds(60)), {.allowed = true, .limit = 1});
  EXPECT_EQ(RetryAfterSeconds(v.verdict, 0), std::nullopt);
}

}  // namespace
}  // namespace sluice::frontend::http
