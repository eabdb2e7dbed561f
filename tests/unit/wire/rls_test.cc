#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/rls_message.h"
#include "wire/rls_request.h"
#include "wire/rls_response.h"

namespace sluice::wire {
namespace {

using testing::HasSubstr;

TEST(RlsRequestTest, ReadsWhatAClientWrites) {
  const std::string bytes =
      support::RlsRequestMessage("d",
                                 {{.entries = {{"a", "1"}, {"b", ""}}, .limit = {{5, 3}}},
                                  {.entries = {}, .hits = 0, .negative = true}},
                                 7);
  RlsRequest request;
  ASSERT_TRUE(request.Read(bytes));
  EXPECT_EQ(request.domain(), "d");
  EXPECT_EQ(request.hits_addend(), 7U);
  ASSERT_EQ(request.descriptors().size(), 2U);
  const RlsDescriptor& first = request.descriptors()[0];
  ASSERT_EQ(first.entries.size(), 2U);
  EXPECT_EQ(first.entries[1].key, "b");
  EXPECT_EQ(first.limit->requests_per_unit, 5U);
  EXPECT_EQ(first.limit->unit, 3U);
  EXPECT_FALSE(first.hits_addend.has_value());
  EXPECT_EQ(request.descriptors()[1].hits_addend, 0U);
  EXPECT_TRUE(request.descriptors()[1].is_negative_hits);
  EXPECT_TRUE(request.descriptors()[1].entries.empty());
}

TEST(RlsRequestTest, PassesUnknownFieldsOver) {
  const std::string bytes(
      "\x0a\x01"
      "d\x7a\x01x\x80\x01\x05\x08\x01",
      11);
  RlsRequest request;
  ASSERT_TRUE(request.Read(bytes));
  EXPECT_EQ(request.domain(), "d");  // The last field has the tag of the domain and another type.
}

TEST(RlsRequestTest, RefusesWhatIsNone) {
  RlsRequest request;
  EXPECT_FALSE(
      request.Read("\x0a\x05"
                   "d"));
  EXPECT_FALSE(request.Read(std::string("\x0a\x01\xff", 3)));
  EXPECT_EQ(request.error(), "string field contains invalid UTF-8");
  EXPECT_TRUE(request.Read(""));
}

TEST(RlsJsonTest, ReadsBothSpellingsOfNames) {
  RlsJson json;
  RlsRequest request;
  ASSERT_TRUE(json.Read(
      R"({"domain": "d", "hits_addend": "3", "descriptors": [
          {"entries": [{"key": "k", "value": "\u00e9"}], "hitsAddend": "18446744073709551615",
           "limit": {"requestsPerUnit": 5, "unit": "HOUR"}},
          {"limit": {"requests_per_unit": 1, "unit": 2}, "isNegativeHits": true},
          {"entries": null}]})",
      request))
      << json.error();
  EXPECT_EQ(request.domain(), "d");
  EXPECT_EQ(request.hits_addend(), 3U);
  ASSERT_EQ(request.descriptors().size(), 3U);
  EXPECT_EQ(request.descriptors()[0].entries[0].value, "\xc3\xa9");
  EXPECT_EQ(request.descriptors()[0].limit->unit, 3U);
  EXPECT_EQ(request.descriptors()[0].hits_addend, 18446744073709551615U);
  EXPECT_EQ(request.descriptors()[1].limit->unit, 2U);
  EXPECT_TRUE(request.descriptors()[1].is_negative_hits);
}

TEST(RlsJsonTest, RefusesWhatTheMappingDoes) {
  RlsJson json;
  RlsRequest request;
  for (const char* text :
       {"", "[]", "{", R"({"domain": 1})", R"({"domain": "d"} x)", R"({"dom": "d"})",
        R"({"hitsAddend": -1})", R"({"hitsAddend": 1.5})", R"({"hitsAddend": 4294967296})",
        R"({"descriptors": {}})", R"({"descriptors": [1]})",
        R"({"descriptors": [{"limit": {"unit": "EON"}}]})", R"({"domain" "d"})",
        R"({"domain": "d",})"}) {
    EXPECT_FALSE(json.Read(text, request)) << text;
    EXPECT_THAT(json.error(), HasSubstr("line ")) << text;
  }
}

TEST(RlsResponseTest, JsonLeavesDefaultsOut) {
  RlsResponse response;
  response.overall_code = RlsCode::kOverLimit;
  response.statuses = {{.code = RlsCode::kOverLimit,
                        .has_limit = true,
                        .requests_per_unit = 3,
                        .unit = 2,
                        .unit_name = "MINUTE",
                        .name = {},
                        .seconds_until_reset = 58},
                       {.code = RlsCode::kOk, .name = {}, .limit_remaining = 4'294'967'295U}};
  response.response_headers_to_add = {{"a", "b"}};
  std::string json;
  response.AppendJson(json);
  std::erase(json, ' ');
  EXPECT_EQ(json, R"({"overallCode":"OVER_LIMIT","statuses":[{"code":"OVER_LIMIT","currentLimit":)"
                  R"({"requestsPerUnit":3,"unit":"MINUTE"},"durationUntilReset":"58s"},)"
                  R"({"code":"OK","limitRemaining":4294967295}],)"
                  R"("responseHeadersToAdd":[{"key":"a","value":"b"}]})");
}

TEST(StructValueTest, MergesWhatIsMissingLevelByLevel) {
  StructValue a{StructValue::Object{}};
  a.Set("x", StructValue(1.0));
  a.Set("m", StructValue(StructValue::Object{{"p", StructValue("1")}}));
  StructValue b{StructValue::Object{}};
  b.Set("x", StructValue(2.0));
  b.Set("m", StructValue(StructValue::Object{{"p", StructValue("2")}, {"q", StructValue(true)}}));
  a.MergeMissing(b);
  std::string json;
  a.AppendJson(json);
  EXPECT_EQ(json, R"({"x":1,"m":{"p":"1","q":true}})");
}

}  // namespace
}  // namespace sluice::wire
