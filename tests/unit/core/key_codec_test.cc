#include "core/key_codec.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace sluice::core {
namespace {

using namespace std::string_view_literals;

const std::array kParts{
    KeyPart{.attribute = "user_id", .type = AttributeType::kText, .value = "a\0b"sv},
    KeyPart{.attribute = "ip", .type = AttributeType::kIp, .value = "2001:db8::"}};
const KeyView kView{.rule = "login", .formerly = {}, .parts = kParts};

std::string Written(KeyForm form) {
  std::string bytes;
  AppendKey(form, kView, bytes);
  return bytes;
}

// Tokens are out with clients, bans are in tables: what these tests say must never change.
TEST(KeyCodecTest, ATokensBytesStay) {
  EXPECT_EQ(Written(KeyForm::kCounted),
            "\5\0login\2\0\7\0user_id\3\0a\0b\1\2\0ip\12\0"
            "2001:db8::"sv);
}

TEST(KeyCodecTest, ABansBytesStay) {
  EXPECT_EQ(Written(KeyForm::kWhole),
            "\5\0login\1\0t\7\0user_id\3\0a\0b\1\0i\2\0ip\12\0"
            "2001:db8::"sv);
}

TEST(KeyCodecTest, ATextStays) {
  std::string text;
  AppendKeyText(kParts, text);
  EXPECT_EQ(text, "user_id=a%00b,ip~2001:db8::");
}

TEST(KeyCodecTest, RefusesWhatIsBeyondItsBounds) {
  const std::string longest(kMaxValueBytes, 'x');
  const std::string longer(kMaxValueBytes + 1, 'x');
  for (const KeyForm form : {KeyForm::kCounted, KeyForm::kWhole}) {
    for (const auto& [value, good] : {std::pair(&longest, true), std::pair(&longer, false)}) {
      const std::array parts{KeyPart{.attribute = "a", .value = *value}};
      std::string bytes;
      AppendKey(form, {.rule = "r", .formerly = {}, .parts = parts}, bytes);
      std::string_view rest = bytes;
      Key key;
      EXPECT_EQ(ReadKey(form, rest, key), good);
    }
    const std::array<KeyPart, kMaxKeyParts + 1> many{};
    std::string bytes;
    AppendKey(form, {.rule = "r", .formerly = {}, .parts = many}, bytes);
    std::string_view rest = bytes;
    Key key;
    EXPECT_FALSE(ReadKey(form, rest, key));
  }
  EXPECT_FALSE(ReadKeyText("r", "a=" + longer).has_value());
  EXPECT_FALSE(ReadKeyText("r", "a=,a=,a=,a=,a=,a=,a=,a=,a=").has_value());
}

TEST(KeyCodecTest, RefusesWhatNobodyWroteAsText) {
  for (const std::string_view text :
       {"a", "a=b,", ",a=b", "a=b=c", "a=%4", "a=%zz", "a=%41", "a=%2C", "a b=c"}) {
    EXPECT_FALSE(ReadKeyText("r", text).has_value()) << text;
  }
}

TEST(KeyTest, OwnsItsTextsWhereverItGoes) {
  Key moved;
  {
    const std::string rule = "a rule";
    const std::string value = "a value that is long enough to be on the heap";
    const std::array parts{KeyPart{.attribute = "a", .value = value}};
    Key key({.rule = rule, .formerly = {}, .parts = parts});
    moved = std::move(key);
  }
  const Key copy(moved);
  moved.Assign({.rule = "other", .formerly = {}, .parts = {}});
  EXPECT_EQ(copy.rule(), "a rule");
  ASSERT_EQ(copy.parts().size(), 1U);
  EXPECT_EQ(copy.parts()[0].value, "a value that is long enough to be on the heap");
  EXPECT_EQ(moved.rule(), "other");
  EXPECT_TRUE(moved.parts().empty());
}

}  // namespace
}  // namespace sluice::core
