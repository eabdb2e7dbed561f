#include "frontend/key_token.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/frontend/http/verdicts.h"
#include "wire/base64url.h"

namespace sluice::frontend {
namespace {

const std::vector<core::KeyPart>& Parts() {
  static const std::vector<core::KeyPart> parts{
      {.attribute = "user_id", .type = core::AttributeType::kText, .value = {"a\0b", 3}},
      {.attribute = "ip", .type = core::AttributeType::kIp, .value = "2001:db8::/64"},
      {.attribute = "empty", .type = core::AttributeType::kText, .value = ""}};
  return parts;
}

void ExpectParts(const TokenKey& key) {
  const auto views = key.Views();
  ASSERT_EQ(views.size(), Parts().size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    EXPECT_EQ(views[i].attribute, Parts()[i].attribute);
    EXPECT_EQ(views[i].type, Parts()[i].type);
    EXPECT_EQ(views[i].value, Parts()[i].value);
  }
}

TEST(KeyTokenTest, AHoldComesBackAsItWas) {
  std::string text;
  AppendHoldToken(18'446'744'073'709'551'615U, Parts(), text);
  const auto token = ReadHoldToken(text);
  ASSERT_TRUE(token.has_value());
  EXPECT_EQ(token->hold, 18'446'744'073'709'551'615U);
  ExpectParts(token->key);
}

TEST(KeyTokenTest, ChargesComeBackAsTheyWere) {
  http::Verdicts v;
  v.Add("free", http::Window(1, std::chrono::seconds(1)), {.allowed = true});
  service::RuleDecision& made =
      v.Add("api", http::Bucket(100, std::chrono::minutes(1), 150), {.allowed = true});
  made.parts = Parts();
  made.cost = {.units = 7};
  made.receipt = {.charged_at_ns = 1'234'567'890'123'456'789, .nonce = 42};
  std::string text;
  ASSERT_TRUE(AppendChargeToken(ChargeKind::kReservation, v.verdict, text));
  EXPECT_FALSE(ReadChargeToken(ChargeKind::kReceipt, text).has_value());
  const auto charges = ReadChargeToken(ChargeKind::kReservation, text);
  ASSERT_TRUE(charges.has_value());
  ASSERT_EQ(charges->size(), 1U);
  const ChargeToken& charge = charges->front();
  EXPECT_EQ(charge.rule, "api");
  ExpectParts(charge.key);
  EXPECT_EQ(charge.receipt.charged_at_ns, 1'234'567'890'123'456'789);
  EXPECT_EQ(charge.receipt.nonce, 42U);
  EXPECT_EQ(charge.units, 7);
  EXPECT_EQ(charge.limit, 150);
  EXPECT_EQ(charge.rate, 100);
}

TEST(KeyTokenTest, WhatChargedNothingHasNoToken) {
  http::Verdicts v;
  v.Add("free", http::Window(1, std::chrono::seconds(1)), {.allowed = true});
  std::string text;
  EXPECT_FALSE(AppendChargeToken(ChargeKind::kReceipt, v.verdict, text));
  EXPECT_EQ(text, "");
}

TEST(KeyTokenTest, NoOtherTextIsOne) {
  std::string text;
  AppendHoldToken(7, Parts(), text);
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(ReadHoldToken(text.substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(ReadHoldToken(text + "AAAA").has_value());
  EXPECT_FALSE(ReadHoldToken(text + "=").has_value());
  EXPECT_FALSE(ReadChargeToken(ChargeKind::kReceipt, text).has_value());
  for (std::size_t i = 0; i < text.size(); ++i) {  // Nothing here crashes, whatever is said.
    for (const char c : {'A', '_', 'z', '5'}) {
      std::string other = text;
      other[i] = c;
      (void)ReadHoldToken(other);
      (void)ReadChargeToken(ChargeKind::kReservation, other);
    }
  }
}

TEST(Base64UrlTest, IsThatOfTheStandard) {
  // RFC 4648, section 10, without padding.
  for (const auto& [bytes, text] :
       std::vector<std::pair<std::string, std::string>>{{"", ""},
                                                        {"f", "Zg"},
                                                        {"fo", "Zm8"},
                                                        {"foo", "Zm9v"},
                                                        {"foob", "Zm9vYg"},
                                                        {"fooba", "Zm9vYmE"},
                                                        {"foobar", "Zm9vYmFy"},
                                                        {"\xff\xfe\xfb", "__77"}}) {
    std::string out;
    wire::AppendBase64Url(out, bytes);
    EXPECT_EQ(out, text);
    std::string back = "x";
    EXPECT_TRUE(wire::AppendFromBase64Url(back, text));
    EXPECT_EQ(back, "x" + bytes);
  }
  for (const char* text : {"Z", "Zh", "Zg==", "Zm9", "Z+8", "Zg A", "Zm9vY"}) {
    std::string out;
    EXPECT_FALSE(wire::AppendFromBase64Url(out, text)) << text;
  }
}

}  // namespace
}  // namespace sluice::frontend
