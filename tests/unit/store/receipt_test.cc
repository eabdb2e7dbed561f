#include "store/receipt.h"

#include <array>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace sluice::store {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

const std::array kParts{
    core::KeyPart{.attribute = "ip", .type = core::AttributeType::kIp, .value = "::"}};
const core::KeyView kView{.rule = "api", .formerly = {}, .parts = kParts};
constexpr Charge kCharge{
    .receipt = {.charged_at_ns = 0x0102'0304'0506'0708, .nonce = 42, .store_id = 0x88},
    .units = 7,
    .limit = kMaxUnits,
    .rate = 100,
    .shape = 0xffff'ffff'ffff'ffffU};
constexpr std::string_view kKeyBytes = "\3\0api\1\1\2\0ip\2\0::"sv;

// Tokens that are out have these bytes: what these tests say must never change.
TEST(ReceiptTest, AChargesBytesStay) {
  std::string bytes;
  AppendCharge(kView, kCharge, bytes);
  EXPECT_EQ(bytes, std::string(kKeyBytes) +
                       "\x88\0\0\0\0\0\0\0"
                       "\x08\x07\x06\x05\x04\x03\x02\x01"
                       "\x2a\0\0\0\0\0\0\0"
                       "\x07\0\0\0\0\0\0\0"
                       "\xff\x7f\xc6\xa4\x7e\x8d\x03\0"
                       "\x64\0\0\0\0\0\0\0"
                       "\xff\xff\xff\xff\xff\xff\xff\xff"s);
}

TEST(ReceiptTest, AHoldsBytesStay) {
  std::string bytes;
  AppendHold(kView, {.id = 5, .store_id = 1}, bytes);
  EXPECT_EQ(bytes, std::string(kKeyBytes) + "\5\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0"s);
}

TEST(ReceiptTest, IsReadAsItWasWrittenOneBehindTheOther) {
  std::string bytes;
  AppendCharge(kView, kCharge, bytes);
  AppendHold(kView, {.id = 5, .store_id = 1}, bytes);
  std::string_view rest = bytes;
  core::Key key;
  Charge charge;
  ASSERT_TRUE(ReadCharge(rest, key, charge));
  EXPECT_EQ(key, core::Key(kView));
  EXPECT_EQ(charge, kCharge);
  GrantedHold hold;
  ASSERT_TRUE(ReadHold(rest, key, hold));
  EXPECT_EQ(key, core::Key(kView));
  EXPECT_EQ(hold, (GrantedHold{.id = 5, .store_id = 1}));
  EXPECT_TRUE(rest.empty());
}

TEST(ReceiptTest, WhatIsCutShortIsRefused) {
  std::string charge_bytes;
  AppendCharge(kView, kCharge, charge_bytes);
  std::string hold_bytes;
  AppendHold(kView, {.id = 5, .store_id = 1}, hold_bytes);
  core::Key key;
  for (std::size_t size = 0; size < charge_bytes.size(); ++size) {
    std::string_view rest = std::string_view(charge_bytes).substr(0, size);
    Charge charge;
    EXPECT_FALSE(ReadCharge(rest, key, charge)) << size;
  }
  for (std::size_t size = 0; size < hold_bytes.size(); ++size) {
    std::string_view rest = std::string_view(hold_bytes).substr(0, size);
    GrantedHold hold;
    EXPECT_FALSE(ReadHold(rest, key, hold)) << size;
  }
}

TEST(ReceiptTest, MoreUnitsThanThereCanBeAreRefused) {
  for (Units Charge::* const field : {&Charge::units, &Charge::limit, &Charge::rate}) {
    for (const Units units : {kMaxUnits + 1, Units{-1}}) {
      Charge other = kCharge;
      other.*field = units;
      std::string bytes;
      AppendCharge(kView, other, bytes);
      std::string_view rest = bytes;
      core::Key key;
      EXPECT_FALSE(ReadCharge(rest, key, other)) << units;
    }
  }
}

// Stores remember settled charges by these.
TEST(ReceiptTest, ItsIdStays) {
  const Receipt receipt{.charged_at_ns = 1234, .nonce = 42, .store_id = 1};
  EXPECT_EQ(IdText(receipt), "42:1234");
  const std::array<char, 16> bytes = IdBytes(receipt);
  EXPECT_EQ(std::string_view(bytes.data(), bytes.size()), "\x2a\0\0\0\0\0\0\0\xd2\4\0\0\0\0\0\0"sv);
}

}  // namespace
}  // namespace sluice::store
