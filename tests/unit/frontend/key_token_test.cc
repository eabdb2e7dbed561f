#include "frontend/key_token.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/quota.h"
#include "core/shape.h"
#include "support/manual_clock.h"
#include "unit/frontend/http/verdicts.h"
#include "wire/base64.h"

namespace sluice::frontend {
namespace {

using signing::Opened;

const std::vector<core::KeyPart>& Parts() {
  static const std::vector<core::KeyPart> parts{
      {.attribute = "user_id", .type = core::AttributeType::kText, .value = {"a\0b", 3}},
      {.attribute = "ip", .type = core::AttributeType::kIp, .value = "2001:db8::/64"},
      {.attribute = "empty", .type = core::AttributeType::kText, .value = ""}};
  return parts;
}

void ExpectKey(const core::Key& key, std::string_view rule) {
  EXPECT_EQ(key, core::Key({.rule = rule, .formerly = {}, .parts = Parts()}));
}

class KeyTokenTest : public testing::Test {
 protected:
  std::string HoldText() {
    service::RuleDecision& made =
        verdicts_.Add("jobs", http::InFlight(2, std::chrono::seconds(30)), {.allowed = true});
    made.parts = Parts();
    made.hold = 18'446'744'073'709'551'615U;
    made.receipt.store_id = 77;
    std::string text;
    AppendHoldToken(keys_, made, text);
    return text;
  }

  support::ManualClock clock_;
  const signing::Keyring keys_{signing::Derive("node", ""), clock_};
  http::Verdicts verdicts_;
};

TEST_F(KeyTokenTest, AHoldComesBackAsItWas) {
  service::HoldChange::NamedHold token;
  ASSERT_EQ(ReadHoldToken(&keys_, HoldText(), token), Opened::kGood);
  EXPECT_EQ(token.hold.id, 18'446'744'073'709'551'615U);
  EXPECT_EQ(token.hold.store_id, 77U);
  ExpectKey(token.key, "jobs");
}

TEST_F(KeyTokenTest, ChargesComeBackAsTheyWere) {
  verdicts_.Add("free", http::Window(1, std::chrono::seconds(1)), {.allowed = true});
  service::RuleDecision& made =
      verdicts_.Add("api", http::Bucket(100, std::chrono::minutes(1), 150), {.allowed = true});
  made.parts = Parts();
  made.cost = {.units = 7};
  made.receipt = {.charged_at_ns = 1'234'567'890'123'456'789, .nonce = 42, .store_id = 88};
  std::string text;
  ASSERT_TRUE(AppendChargeToken(keys_, ChargeKind::kReservation, verdicts_.verdict, text));
  std::vector<service::Charge> charges;
  EXPECT_EQ(ReadChargeToken(&keys_, ChargeKind::kReceipt, text, charges), Opened::kMalformed);
  ASSERT_EQ(ReadChargeToken(&keys_, ChargeKind::kReservation, text, charges), Opened::kGood);
  ASSERT_EQ(charges.size(), 1U);
  ExpectKey(charges.front().key, "api");
  const store::Charge& charge = charges.front().made;
  EXPECT_EQ(charge.receipt.charged_at_ns, 1'234'567'890'123'456'789);
  EXPECT_EQ(charge.receipt.nonce, 42U);
  EXPECT_EQ(charge.receipt.store_id, 88U);
  EXPECT_EQ(charge.units, 7);
  EXPECT_EQ(charge.limit, 150);
  EXPECT_EQ(charge.rate, 100);
  EXPECT_EQ(charge.shape, core::ShapeDigest(made.quota));
}

TEST_F(KeyTokenTest, WhatChargedNothingHasNoToken) {
  verdicts_.Add("free", http::Window(1, std::chrono::seconds(1)), {.allowed = true});
  std::string text;
  EXPECT_FALSE(AppendChargeToken(keys_, ChargeKind::kReceipt, verdicts_.verdict, text));
  EXPECT_EQ(text, "");
}

TEST_F(KeyTokenTest, NoOtherTextIsOne) {
  const std::string text = HoldText();
  service::HoldChange::NamedHold token;
  std::vector<service::Charge> charges;
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_NE(ReadHoldToken(&keys_, text.substr(0, i), token), Opened::kGood) << i;
    for (const char c : {'A', '_', 'z', '5'}) {
      std::string other = text;
      other[i] = c;
      if (other != text) {
        EXPECT_NE(ReadHoldToken(&keys_, other, token), Opened::kGood) << i << c;
      }
    }
  }
  EXPECT_EQ(ReadChargeToken(&keys_, ChargeKind::kReceipt, text, charges), Opened::kMalformed);
  EXPECT_EQ(ReadHoldToken(nullptr, text, token), Opened::kForeign);
}

// Another version of Sluice may have sealed something else under the same mark.
TEST_F(KeyTokenTest, AProofAloneMakesNoToken) {
  service::HoldChange::NamedHold token;
  std::vector<service::Charge> charges;
  for (const std::string& payload : {std::string(), std::string("x"), std::string(200, '\0')}) {
    std::string text;
    keys_.Seal(signing::TokenKind::kHold, payload, text);
    EXPECT_EQ(ReadHoldToken(&keys_, text, token), Opened::kForged);
    text.clear();
    keys_.Seal(signing::TokenKind::kReceipt, payload, text);
    charges.clear();
    EXPECT_EQ(ReadChargeToken(&keys_, ChargeKind::kReceipt, text, charges), Opened::kForged);
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
