#include "wire/scalar_object.h"

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace sluice::wire {
namespace {

// To ten digits: the other reader's last ones are not exact.
std::string Rounded(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "number %.10g", number);
  return text;
}

// A member as somebody else's reader has it: text by its bytes, a number by its value.
std::string Said(const boost::json::value& value) {
  if (value.is_string()) {
    return "text " + std::string(value.get_string().c_str(), value.get_string().size());
  }
  if (value.is_number()) {
    return Rounded(value.to_number<double>());
  }
  return boost::json::serialize(value);
}

std::string Said(const JsonMember& member) {
  switch (member.kind) {
    case ScalarKind::kText:
      return "text " + std::string(member.text);
    case ScalarKind::kInteger:
    case ScalarKind::kFraction:
      return Rounded(std::strtod(std::string(member.text).c_str(), nullptr));
    case ScalarKind::kBoolean:
      return std::string(member.text);
    case ScalarKind::kNull:
      break;
  }
  return "null";
}

// What both make of `text`: the same, or at odds.
bool Agree(ScalarObject& object, const std::string& text) {
  boost::json::error_code error;
  const boost::json::value theirs = boost::json::parse(text, error);
  const auto read = object.Read(text);
  if (error == boost::json::error::exponent_overflow) {
    return true;  // JSON all the same; only too much for that reader.
  }
  if (!read) {
    // What JSON allows and we do not (arrays, a name twice) may hide a syntax error behind it.
    return read.error().fault != JsonFault::kSyntax || error;
  }
  if (error || !theirs.is_object()) {
    return false;
  }
  std::vector<std::pair<std::string, std::string>> expected;
  for (const auto& member : theirs.get_object()) {
    const std::string name(member.key().data(), member.key().size());
    if (name == "nested" && member.value().is_object()) {
      for (const auto& inner : member.value().get_object()) {
        expected.emplace_back(std::string(inner.key().data(), inner.key().size()),
                              Said(inner.value()));
      }
    } else if (name != "nested" || !member.value().is_null()) {
      expected.emplace_back(name, Said(member.value()));
    }
  }
  std::vector<std::pair<std::string, std::string>> ours;
  for (const JsonMember& member : object.members()) {
    ours.emplace_back(std::string(member.name), Said(member));
  }
  return ours == expected;
}

TEST(ScalarObjectTest, ReadsWhatAnotherReaderReads) {
  static constexpr std::string_view kSeeds[] = {
      R"({"user_id": "u_42", "endpoint": "/v1/charges", "cost": 1})",
      R"( {"a":-0,"b":12.50e+2,"nested":{"c":true,"d":null},"e":"" } )",
      R"({"\u00e4\ud83d\ude00":"\"\\\/\b\f\n\r\t","x":"ä😀","n":123456789012345678901234567890})",
      R"({"nested":null,"y":0.1,"z":false})"};
  static constexpr std::string_view kBytes =
      "{}[]\":,\\/ \n\t0123456789-+.eEtrufalsn\x01\x7f\x80\xc3\xa4\xf0\x9f\xed";
  std::mt19937 random(1);
  ScalarObject object("nested");
  int read = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string text(kSeeds[random() % std::size(kSeeds)]);
    for (auto changes = random() % 4; changes > 0; --changes) {
      const std::size_t at = random() % text.size();
      const char byte = kBytes[random() % kBytes.size()];
      switch (random() % 3) {
        case 0:
          text[at] = byte;
          break;
        case 1:
          text.insert(at, 1, byte);
          break;
        default:
          text.erase(at, 1);
      }
    }
    ASSERT_TRUE(Agree(object, text)) << text;
    read += object.Read(text) ? 1 : 0;
  }
  EXPECT_GT(read, 20'000);
  EXPECT_LT(read, 80'000);
}

std::string Refused(std::string_view text) {
  ScalarObject object("nested");
  const auto read = object.Read(text);
  return read ? "read" : read.error().message;
}

TEST(ScalarObjectTest, SaysWhatIsMalformedAndWhere) {
  EXPECT_EQ(Refused("{\"a\" 1}"), "malformed JSON: a colon is expected (line 1, column 6)");
  EXPECT_EQ(Refused("{\"a\":1 \"b\":2}"),
            "malformed JSON: a comma or a closing brace is expected (line 1, column 8)");
  EXPECT_EQ(Refused("{\"a\":1,}"),
            "malformed JSON: a member's name in quotes is expected (line 1, column 8)");
  EXPECT_EQ(Refused("{\"a\":\n yes}"), "malformed JSON: a value is expected (line 2, column 2)");
  EXPECT_EQ(Refused("{\"a\":\"\\u12x4\"}"),
            "malformed JSON: \\u needs four hex digits (line 1, column 7)");
  EXPECT_EQ(Refused("{\"a\":1"), "the JSON text ends too early (line 1, column 7)");
  EXPECT_EQ(Refused("{\"a\":1} {"), "unexpected text after the JSON object (line 1, column 9)");
}

TEST(ScalarObjectTest, KeepsWhereAValueBegins) {
  ScalarObject object("nested");
  // What is decoded gets shorter; places are those of the text as it came.
  ASSERT_TRUE(object.Read("{\"\\u0061\": \"\\u0062\",\n \"nested\": {\"c\": 7}}"));
  ASSERT_EQ(object.members().size(), 2U);
  EXPECT_EQ(object.members()[0].offset, 11U);
  EXPECT_EQ(object.members()[1].offset, 38U);
}

}  // namespace
}  // namespace sluice::wire
