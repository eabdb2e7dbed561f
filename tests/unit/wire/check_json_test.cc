#include "wire/check_json.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::wire {
namespace {

using testing::HasSubstr;

// The attributes as "name=value name=value", or the problem's name and message.
std::string Told(std::string_view body) {
  CheckJson check;
  // A copy with no byte to spare, gone before the answer is read.
  auto bytes = std::make_unique<std::string>(body);
  const auto parsed = check.Parse(*bytes);
  bytes.reset();
  if (!parsed) {
    return std::string(FaultName(parsed.error().fault)) + ": " + parsed.error().message;
  }
  std::string text;
  for (const Attribute& attribute : check.request().attributes) {
    text.append(text.empty() ? "" : " ").append(attribute.name).append("=");
    text.append(attribute.value);
  }
  return text;
}

Units CostIn(std::string_view body) {
  CheckJson check;
  EXPECT_TRUE(check.Parse(body)) << body;
  return check.request().cost.units;
}

TEST(CheckJsonTest, ReadsAttributesInOrder) {
  EXPECT_EQ(Told(R"( {"user_id": "u_42", "endpoint":"/v1/charges", "cost": 1} )"),
            "user_id=u_42 endpoint=/v1/charges");
  EXPECT_EQ(Told("{}"), "");
}

TEST(CheckJsonTest, TakesNumbersAsDecimalTextAndBooleansAsWords) {
  EXPECT_EQ(Told(R"({"a":42,"b":-7,"c":-0,"d":true,"e":false,"f":""})"),
            "a=42 b=-7 c=0 d=true e=false f=");
  EXPECT_EQ(Told(R"({"a":18446744073709551615,"b":123456789012345678901234567890})"),
            "a=18446744073709551615 b=123456789012345678901234567890");
  EXPECT_EQ(Told(R"({"a":1.50,"b":2.0,"c":1e2,"d":-0.0,"e":0.1,"f":1e400})"),
            "a=1.5 b=2 c=100 d=0 e=0.1 f=1e400");
}

TEST(CheckJsonTest, TakesNullAsAbsent) {
  EXPECT_EQ(Told(R"({"a":null,"b":1,"cost":null,"attributes":null})"), "b=1");
}

TEST(CheckJsonTest, ReadsReservedWords) {
  CheckJson check;
  ASSERT_TRUE(check.Parse(
      R"({"cost": 999999999999999, "peek": true, "wait": true, "reserve": true, "receipt": true})"));
  const CheckRequest& r = check.request();
  EXPECT_EQ(r.cost.units, kMaxUnits);
  EXPECT_TRUE(r.peek && r.wait && r.reserve && r.receipt);
  ASSERT_TRUE(check.Parse(R"({"peek": false})"));
  EXPECT_FALSE(r.peek || r.wait || r.reserve || r.receipt);
  EXPECT_EQ(r.cost.units, 1);
  EXPECT_EQ(CostIn(R"({"cost":0})"), 0);
}

TEST(CheckJsonTest, MergesAttributesWithoutReservedWords) {
  CheckJson check;
  ASSERT_TRUE(check.Parse(R"({"a":"1","attributes":{"cost":"x","peek":2},"cost":3,"b":"4"})"));
  EXPECT_EQ(check.request().cost.units, 3);
  EXPECT_FALSE(check.request().peek);
  EXPECT_EQ(Told(R"({"a":"1","attributes":{"cost":"x","attributes":2},"cost":3,"b":"4"})"),
            "a=1 cost=x attributes=2 b=4");
}

TEST(CheckJsonTest, RefusesANameGivenTwice) {
  EXPECT_EQ(Told(R"({"a":1, "a":2})"), "duplicate_member: `a` is given twice (line 1, column 9)");
  EXPECT_THAT(Told(R"({"a":null,"a":2})"), HasSubstr("duplicate_member"));
  EXPECT_THAT(Told(R"({"a":1,"\u0061":2})"), HasSubstr("duplicate_member"));
  EXPECT_THAT(Told(R"({"cost":1,"cost":2})"), HasSubstr("duplicate_member"));
  EXPECT_THAT(Told(R"({"a":1,"attributes":{"a":2}})"), HasSubstr("duplicate_member"));
  EXPECT_THAT(Told(R"({"attributes":{"a":2},"a":1})"), HasSubstr("duplicate_member"));
  EXPECT_THAT(Told(R"({"attributes":{},"attributes":{}})"), HasSubstr("duplicate_member"));
}

TEST(CheckJsonTest, NamesTheMemberThatIsNoScalar) {
  EXPECT_EQ(Told("{\"a\": 1,\n \"b\":\t[1]}"),
            "nested_value: `b` must be text, a number, a boolean or null, not an array "
            "(line 2, column 7)");
  EXPECT_THAT(Told(R"({"b":{"c":1}})"), HasSubstr("`b` must be text"));
  EXPECT_THAT(Told(R"({"attributes":{"c":{}}})"), HasSubstr("`c` must be text"));
  EXPECT_THAT(Told(R"({"attributes":[1]})"), HasSubstr("`attributes` must be an object"));
  EXPECT_THAT(Told(R"({"attributes":"x"})"), HasSubstr("`attributes` must be an object"));
}

TEST(CheckJsonTest, AWholeNumberMayBeWrittenAsAFraction) {
  CheckJson json;
  for (const auto& [text, units] :
       {std::pair(R"({"cost": 2.0})", 2), {R"({"cost": 3e2})", 300}, {R"({"cost": 0.0})", 0}}) {
    ASSERT_TRUE(json.Parse(text).has_value()) << text;
    EXPECT_EQ(json.request().cost.units, units);
  }
  EXPECT_FALSE(json.Parse(R"({"cost": -2.0})").has_value());
  EXPECT_FALSE(json.Parse(R"({"cost": 1e15})").has_value());
}

TEST(CheckJsonTest, RefusesImpossibleCosts) {
  EXPECT_EQ(Told(R"({"a":"b\"c", "cost": -3})"),
            "invalid_cost: `cost` must not be negative (line 1, column 22)");
  EXPECT_THAT(Told(R"({"cost": 1.5})"), HasSubstr("invalid_cost: `cost` must be a whole number"));
  EXPECT_THAT(Told(R"({"cost": "5"})"), HasSubstr("invalid_cost: `cost` must be a number"));
  EXPECT_THAT(Told(R"({"cost": true})"), HasSubstr("invalid_cost"));
  EXPECT_THAT(Told(R"({"cost": 1000000000000000})"),
              HasSubstr("must not be above 999999999999999"));
  EXPECT_THAT(Told(R"({"cost": 99999999999999999999999})"), HasSubstr("must not be above"));
  EXPECT_THAT(Told(R"({"cost": -99999999999999999999999})"), HasSubstr("must not be negative"));
  EXPECT_THAT(Told(R"({"cost": {"a":1}})"), HasSubstr("`cost`"));
  EXPECT_THAT(Told(R"({"peek": 1})"), HasSubstr("wrong_type: `peek` must be true or false"));
}

TEST(CheckJsonTest, RefusesWhatIsNoJsonObject) {
  EXPECT_THAT(Told(""), HasSubstr("invalid_json: a JSON object is expected"));
  EXPECT_THAT(Told("  "), HasSubstr("invalid_json"));
  for (const char* text : {"42", "\"a\"", "[]", "[{}]", "null", "true", "1.5", "\"\\u0041\""}) {
    EXPECT_THAT(Told(text), HasSubstr("not_an_object: a JSON object is expected (line 1")) << text;
  }
  for (const char* text :
       {"{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{a:1}", "{'a':1}",
        "{\"a\":01}", "{\"a\":+1}", "{\"a\":NaN}", "{\"a\":1}x", "{}{}", "{\"a\":\"\x01\"}",
        "{\"a\":\"\xff\"}", "{\"a\":\"\\ud800\"}", "{\"a\":.5}", "{\"a\":\"\\x\"}", "// c\n{}"}) {
    EXPECT_THAT(Told(text), HasSubstr("invalid_json")) << text;
  }
  EXPECT_THAT(Told("{\"a\":1,\n  oops}"), HasSubstr("(line 2, column 3)"));
}

TEST(CheckJsonTest, DecodesEscapes) {
  EXPECT_EQ(Told(R"({"n\u0061me":"\u00e4\ud83d\ude00\n\"\\\/"})"), "name=ä😀\n\"\\/");
  EXPECT_EQ(Told("{\"a\":\"x\\u0000y\"}"), std::string("a=x\0y", 5));
}

TEST(CheckJsonTest, IsBounded) {
  EXPECT_THAT(Told("{\"" + std::string(257, 'n') + "\":1}"), HasSubstr("member_too_long"));
  EXPECT_THAT(Told("{\"a\":\"" + std::string(1025, 'v') + "\"}"),
              HasSubstr("member_too_long: `a` is longer than 1024 bytes"));
  EXPECT_EQ(Told("{\"a\":\"" + std::string(1024, 'v') + "\"}").size(), 1026U);
  EXPECT_THAT(Told("{\"a\":" + std::string(1025, '1') + "}"), HasSubstr("member_too_long"));
  EXPECT_THAT(Told("{\"\":1}"), HasSubstr("a member's name is empty"));
  EXPECT_THAT(Told(std::string(100000, '[')), HasSubstr("not_an_object"));
  std::string deep;
  for (int i = 0; i < 10000; ++i) {
    deep += "{\"a\":";
  }
  EXPECT_THAT(Told(deep), HasSubstr("nested_value"));
  std::string many = "{";
  for (int i = 0; i < 64; ++i) {
    many += "\"a" + std::to_string(i) + "\":1.5,";
  }
  EXPECT_THAT(Told(many + "\"b\":1}"), HasSubstr("too_many_members"));
  many.back() = '}';
  EXPECT_THAT(Told(many), HasSubstr("a63=1.5"));
}

TEST(CheckJsonTest, SurvivesEveryTruncationAndIsReusable) {
  const std::string body =
      R"({"user_id":"u_\u00e4","n":-12.5e3,"attributes":{"x":null,"y":true},"cost":12,"peek":false})";
  CheckJson check;
  for (std::size_t size = 0; size < body.size(); ++size) {
    const auto parsed = check.Parse(body.substr(0, size));
    ASSERT_FALSE(parsed) << size;
    EXPECT_EQ(parsed.error().fault, JsonFault::kSyntax) << size;
  }
  ASSERT_TRUE(check.Parse(body));
  EXPECT_EQ(check.request().attributes.size(), 3U);
  EXPECT_EQ(check.request().attributes[1].value, "-12500");
}

}  // namespace
}  // namespace sluice::wire
