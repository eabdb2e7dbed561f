#include "envoy/scalar_type.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::envoy {
namespace {

ScalarType Plain(const std::string& text) {
  yaml::Node node;
  node.kind = yaml::Node::Kind::kText;
  node.text = text;
  return TypeOf(node);
}

TEST(ScalarTypeTest, ReadsWordsAsYaml11) {
  for (const char* word : {"y", "Yes", "on", "TRUE", "off", "n", "False"}) {
    EXPECT_EQ(Plain(word), ScalarType::kBool) << word;
  }
  EXPECT_EQ(Plain("yEs"), ScalarType::kText);
  EXPECT_EQ(Plain("~"), ScalarType::kNull);
  EXPECT_EQ(Plain("Null"), ScalarType::kNull);
  EXPECT_TRUE(TruthOf("on"));
  EXPECT_FALSE(TruthOf("off"));
}

TEST(ScalarTypeTest, TellsNumbersFromText) {
  for (const char* number : {"0", "-17", "+3", "0x1F", "0b101", "0o17", "017", "1_000"}) {
    EXPECT_EQ(Plain(number), ScalarType::kInt) << number;
  }
  for (const char* number : {"1.5", ".5", "1.", "1e3", "-.inf", ".NaN", "089", "1_0.5"}) {
    EXPECT_EQ(Plain(number), ScalarType::kFloat) << number;
  }
  for (const char* text : {"1.2.3.4", "-", "a1", "1a", "/path", "10.0.0.0/8", "1:30"}) {
    EXPECT_EQ(Plain(text), ScalarType::kText) << text;
  }
  EXPECT_EQ(Plain("2024-01-02"), ScalarType::kTimestamp);
  EXPECT_EQ(Plain("2024-01-02T03:04:05Z"), ScalarType::kTimestamp);
  EXPECT_EQ(IntegerOf("0x1F"), 31);
  EXPECT_EQ(IntegerOf("-1_000"), -1000);
  EXPECT_EQ(IntegerOf("99999999999999999999"), std::nullopt);
  EXPECT_EQ(NumberOf("+1.5"), 1.5);
}

TEST(ScalarTypeTest, QuotedIsText) {
  yaml::Node node;
  node.kind = yaml::Node::Kind::kText;
  node.text = "5";
  node.quoted = true;
  EXPECT_EQ(TypeOf(node), ScalarType::kText);
}

}  // namespace
}  // namespace sluice::envoy
