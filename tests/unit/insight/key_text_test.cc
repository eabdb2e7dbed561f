#include "insight/key_text.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::insight {
namespace {

using core::AttributeType;
using core::KeyPart;

std::string BytesOf(const std::vector<KeyPart>& parts) {
  KeyRoom room;
  return std::string(WriteKey(parts, room));
}

TEST(KeyTextTest, IsReadAsItWasWritten) {
  const std::vector<KeyPart> parts{
      {.attribute = "ip", .type = AttributeType::kIp, .value = "192.0.2.1"},
      {.attribute = "path", .value = std::string_view("/a\0b", 4)},
      {.attribute = "empty", .value = ""}};
  const std::string bytes = BytesOf(parts);
  const ReadKey read = PartsOf(bytes);
  EXPECT_EQ(read.parts, parts);
  EXPECT_FALSE(read.is_cut);
  EXPECT_EQ(TextOf(PartsOf(BytesOf({parts[0], parts[2]}))), "ip=192.0.2.1, empty=");
  EXPECT_TRUE(PartsOf(BytesOf({})).parts.empty());
}

TEST(KeyTextTest, DiffersWhereKeysDiffer) {
  EXPECT_NE(BytesOf({{.attribute = "a", .value = "bc"}}),
            BytesOf({{.attribute = "ab", .value = "c"}}));
  EXPECT_NE(BytesOf({{.attribute = "a", .type = AttributeType::kIp, .value = "b"}}),
            BytesOf({{.attribute = "a", .type = AttributeType::kText, .value = "b"}}));
}

TEST(KeyTextTest, LongKeysAreCutAndStayApart) {
  const std::string stem(1000, 'x');
  const std::string one = stem + "1";
  const std::string two = stem + "2";
  const std::string a =
      BytesOf({{.attribute = "u", .value = one}, {.attribute = "v", .value = "w"}});
  const std::string b =
      BytesOf({{.attribute = "u", .value = two}, {.attribute = "v", .value = "w"}});
  EXPECT_NE(a, b);
  EXPECT_EQ(a.size(), kMostKeyBytes);
  const ReadKey read = PartsOf(a);
  EXPECT_TRUE(read.is_cut);
  ASSERT_EQ(read.parts.size(), 1U);
  EXPECT_TRUE(one.starts_with(read.parts[0].value));
  EXPECT_THAT(TextOf(read), testing::EndsWith("x..."));
}

// Of every length near the limit, whatever is cut off: a value, a name, or a whole part.
TEST(KeyTextTest, IsReadAtEveryLengthAroundTheLimit) {
  for (std::size_t size = 480; size < 530; ++size) {
    const std::string value(size, 'v');
    const std::string bytes =
        BytesOf({{.attribute = "a", .value = value}, {.attribute = "bc", .value = "d"}});
    ASSERT_LE(bytes.size(), kMostKeyBytes);
    const ReadKey read = PartsOf(bytes);
    EXPECT_EQ(read.is_cut, size + 1 + 5 + 1 + 5 + 3 > kMostKeyBytes) << size;
    ASSERT_GE(read.parts.size(), 1U);
    EXPECT_TRUE(value.starts_with(read.parts[0].value));
  }
}

}  // namespace
}  // namespace sluice::insight
