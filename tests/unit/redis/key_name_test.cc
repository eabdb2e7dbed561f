#include "redis/key_name.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "core/calendar.h"

namespace sluice::redis {
namespace {

using core::AttributeType;
using core::KeyPart;

core::Quota Gcra() {
  core::Quota quota;
  quota.algorithm = core::Algorithm::kGcra;
  quota.window = std::chrono::minutes(1);
  return quota;
}

std::string NameOf(std::span<const KeyPart> parts, const core::Quota& quota = Gcra(),
                   std::string_view rule = "api") {
  std::string text;
  AppendKeyName(rule, {.rule = rule, .formerly = {}, .parts = parts}, quota, text);
  return text;
}

std::string NameOf(std::string_view value, AttributeType type = AttributeType::kText) {
  const std::array parts{KeyPart{.attribute = "user", .type = type, .value = value}};
  return NameOf(parts);
}

std::string TagOf(const std::string& text) {
  return text.substr(4, text.find('}') - 3);
}

// Nodes of several versions share one Redis: what this test says must never change.
TEST(KeyNameTest, IsTheSameOnEveryNode) {
  EXPECT_EQ(NameOf("u_42").substr(14), ":api:gcra,60000:user=u_42");
  EXPECT_EQ(NameOf("2001:db8::", AttributeType::kIp).substr(14), ":api:gcra,60000:user~2001:db8::");
  EXPECT_EQ(NameOf("u_42").substr(0, 5), "sl1:{");
  EXPECT_EQ(NameOf(std::string(200, 'x')).substr(14),
            ":api:gcra,60000:#" + NameOf(std::string(200, 'x')).substr(31));
  EXPECT_EQ(NameOf(std::string(200, 'x')).size(), 14U + 17U + 32U);
}

TEST(KeyNameTest, EscapesWhatCouldBeMistaken) {
  EXPECT_EQ(NameOf("a,b=c~d").substr(14), ":api:gcra,60000:user=a%2cb%3dc%7ed");
  EXPECT_EQ(NameOf(std::string_view("\0 {}*\xff%#", 8)).substr(14),
            ":api:gcra,60000:user=%00%20%7b%7d%2a%ff%25%23");
}

TEST(KeyNameTest, TellsTuplesApart) {
  const std::array one{KeyPart{.attribute = "a", .type = AttributeType::kText, .value = "b,c=d"}};
  const std::array two{KeyPart{.attribute = "a", .type = AttributeType::kText, .value = "b"},
                       KeyPart{.attribute = "c", .type = AttributeType::kText, .value = "d"}};
  EXPECT_NE(NameOf(one), NameOf(two));
  EXPECT_NE(NameOf("192.0.2.1"), NameOf("192.0.2.1", AttributeType::kIp));
  EXPECT_NE(NameOf(std::string(200, 'x')), NameOf(std::string(201, 'x')));
}

TEST(KeyNameTest, RulesOfOneUserShareATag) {
  const std::array parts{KeyPart{.attribute = "user", .type = AttributeType::kText, .value = "u"},
                         KeyPart{.attribute = "path", .type = AttributeType::kText, .value = "/"}};
  EXPECT_EQ(TagOf(NameOf(parts, Gcra(), "day")), TagOf(NameOf("u")));
  EXPECT_NE(TagOf(NameOf("v")), TagOf(NameOf("u")));
  EXPECT_NE(TagOf(NameOf("u", AttributeType::kIp)), TagOf(NameOf("u")));
  EXPECT_NE(TagOf(NameOf({}, Gcra(), "a")), TagOf(NameOf({}, Gcra(), "b")));
}

std::string BanNameOf(std::span<const KeyPart> parts) {
  std::string text;
  AppendBesideKeyName("api", {.rule = "api", .formerly = {}, .parts = parts}, BesideKey::kBan,
                      text);
  return text;
}

TEST(KeyNameTest, ABanLiesBesideItsKeyAndNamesIt) {
  const std::string odd("a,b=c~d#:ban:%\0 \xff", 18);
  for (const std::string& value :
       {std::string("u_42"), std::string(), odd, std::string(99, '*'), std::string(600, 'x')}) {
    const std::array parts{
        KeyPart{.attribute = "user", .type = AttributeType::kText, .value = value},
        KeyPart{.attribute = "i=p", .type = AttributeType::kIp, .value = "2001:db8::"}};
    const std::string name = BanNameOf(parts);
    EXPECT_EQ(name.substr(13, 10), "}:api:ban:");
    EXPECT_EQ(TagOf(name), TagOf(NameOf(parts)));
    EXPECT_LE(name.size(), 23 + kLongestPlainText);
    std::string attributes;
    AppendAttributesOfBan({.rule = "api", .formerly = {}, .parts = parts}, attributes);
    EXPECT_EQ(attributes.empty(), value.size() < 20) << value;
    const auto read = ReadBanKeyName(name, attributes);
    ASSERT_TRUE(read.has_value()) << name;
    EXPECT_EQ(read->rule(), "api");
    ASSERT_EQ(read->parts().size(), 2U);
    EXPECT_EQ(read->parts()[0].attribute, "user");
    EXPECT_EQ(read->parts()[0].value, value);
    EXPECT_EQ(read->parts()[1].attribute, "i=p");
    EXPECT_EQ(read->parts()[1].type, AttributeType::kIp);
  }
  EXPECT_EQ(BanNameOf({}).substr(13), "}:api:ban:");
  EXPECT_TRUE(ReadBanKeyName(BanNameOf({}), "")->parts().empty());
}

TEST(KeyNameTest, OfTooLongAKeyABanNamesTheRuleAlone) {
  const std::string value(3000, 'x');
  const std::array parts{KeyPart{.attribute = "u", .type = AttributeType::kText, .value = value}};
  std::string attributes;
  AppendAttributesOfBan({.rule = "api", .formerly = {}, .parts = parts}, attributes);
  EXPECT_EQ(attributes, "");
  EXPECT_TRUE(ReadBanKeyName(BanNameOf(parts), "")->parts().empty());
}

TEST(KeyNameTest, WhatIsNoBansKeyIsNotReadAsOne) {
  for (const std::string_view name :
       {"", "sl1:{", "sl1:{aa}:api", "sl1:{aa}:api:gcra,60000:u=:ban:x=1", "sl1:{aa}:api:ban:u",
        "sl1:{aa}:api:ban:u=%4", "sl1:{aa}:api:ban:u=%zz", "sl1:{aa}:api:denials:u=1"}) {
    EXPECT_FALSE(ReadBanKeyName(name, "").has_value()) << name;
  }
}

TEST(KeyNameTest, NamesTheShape) {
  core::Quota quota;
  quota.algorithm = core::Algorithm::kSlidingWindow;
  quota.window = std::chrono::seconds(10);
  quota.segments = 4;
  EXPECT_EQ(NameOf({}, quota).substr(14), ":api:sliding_window,10000,4:");
  quota.algorithm = core::Algorithm::kConcurrency;
  EXPECT_EQ(NameOf({}, quota).substr(14), ":api:concurrency:");
  const auto calendar = *core::Calendar::Create(core::CalendarUnit::kMonth, "Europe/Berlin", "15");
  quota.algorithm = core::Algorithm::kFixedWindow;
  quota.calendar = calendar.get();
  EXPECT_EQ(NameOf({}, quota).substr(14), ":api:fixed_window,month,Europe/Berlin,15:");
}

}  // namespace
}  // namespace sluice::redis
