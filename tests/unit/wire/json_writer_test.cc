#include "wire/json_writer.h"

#include <limits>

#include <gtest/gtest.h>

namespace sluice::wire {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

TEST(JsonWriterTest, PutsCommasWhereTheyBelong) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Name("a").Number(std::numeric_limits<std::int64_t>::min());
  json.Name("b").BeginArray().BeginObject().EndObject().BeginArray().EndArray().Null().EndArray();
  json.Name("c").BeginObject().Name("d").Truth(true).Name("e").Text("f").EndObject();
  json.EscapedName("g\"").Raw("1.5").EndObject();
  EXPECT_EQ(out, R"({"a":-9223372036854775808,"b":[{},[],null],"c":{"d":true,"e":"f"},"g\"":1.5})");
}

TEST(JsonWriterTest, EscapesWhatMustBe) {
  EXPECT_EQ(Quoted(std::string("a\"\\\n\r\t\x01\0\x1f/", 10) + "ä😀"),
            "\"a\\\"\\\\\\n\\r\\t\\u0001\\u0000\\u001f/ä😀\"");
}

TEST(JsonWriterTest, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(Quoted("a\x7f\u009b\u202e\u2028\U000e0041z"),
            R"("a\u007f\u009b\u202e\u2028\udb40\udc41z")");
}

TEST(JsonWriterTest, ReplacesBytesThatAreNoUtf8) {
  const std::string r = "\xef\xbf\xbd";
  EXPECT_EQ(Quoted("a\xff"), "\"a" + r + "\"");
  EXPECT_EQ(Quoted("\xc3"), "\"" + r + "\"");
  EXPECT_EQ(Quoted("\xc0\x80"), "\"" + r + r + "\"");                  // Overlong.
  EXPECT_EQ(Quoted("\xed\xa0\x80"), "\"" + r + r + r + "\"");          // A surrogate.
  EXPECT_EQ(Quoted("\xf4\x90\x80\x80"), "\"" + r + r + r + r + "\"");  // Above U+10FFFF.
}

TEST(ProblemTest, LeavesOutWhatIsNotKnown) {
  std::string out;
  AppendProblem(out, {});
  EXPECT_EQ(out, R"({"type":"about:blank"})");
  out.clear();
  const std::string_view policies[] = {"a", "b"};
  AppendProblem(out, {.type = "https://iana.org/assignments/http-problem-types#quota-exceeded",
                      .title = "Quota Exceeded",
                      .status = 429,
                      .detail = "no \"more\"",
                      .code = "quota_exceeded",
                      .violated_policies = policies});
  EXPECT_EQ(out, R"({"type":"https://iana.org/assignments/http-problem-types#quota-exceeded",)"
                 R"("title":"Quota Exceeded","status":429,"detail":"no \"more\"",)"
                 R"("code":"quota_exceeded","violated-policies":["a","b"]})");
}

}  // namespace
}  // namespace sluice::wire
