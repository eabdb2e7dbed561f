#include "rules/ip_address.h"

#include <array>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <gtest/gtest.h>

namespace sluice::rules {
namespace {

std::string Key(std::string_view text, IpGrouping grouping = {}) {
  const auto address = IpAddress::Parse(text);
  return address.has_value() ? std::string(grouping.KeyText(*address).view()) : "none";
}

TEST(IpAddressTest, MappedAddressesAreTheirIpv4Address) {
  for (const char* text : {"192.0.2.1", "::ffff:192.0.2.1", "::FFFF:192.0.2.1", "::ffff:c000:201",
                           "0:0:0:0:0:ffff:c000:0201", "[::ffff:192.0.2.1]:80"}) {
    EXPECT_EQ(Key(text), "192.0.2.1") << text;
    EXPECT_EQ(Key(text, {.v4_prefix = 24}), "192.0.2.0/24") << text;
  }
  EXPECT_EQ(Key("::ffff:192.0.2.2"), "192.0.2.2");
}

TEST(IpAddressTest, AnIpv4AddressIsNotTheIpv6AddressOfItsBits) {
  EXPECT_EQ(Key("::c000:201"), "::/64");
  EXPECT_EQ(Key("::c000:201", {.v6_prefix = 128}), "::192.0.2.1/128");
  EXPECT_NE(IpAddress::Parse("::c000:201"), IpAddress::Parse("192.0.2.1"));
  EXPECT_EQ(Key("c000:201::"), "c000:201::/64");
}

TEST(IpAddressTest, Ipv6IsGroupedByPrefix) {
  for (int host = 1; host <= 1000; ++host) {
    EXPECT_EQ(Key("2001:db8:1:2::" + std::to_string(host)), "2001:db8:1:2::/64");
  }
  EXPECT_EQ(Key("2001:DB8:1:3:ffff:ffff:ffff:ffff"), "2001:db8:1:3::/64");
  EXPECT_NE(Key("2001:db8:1:2ff::1", {.v6_prefix = 56}),
            Key("2001:db8:1:300::1", {.v6_prefix = 56}));
  EXPECT_EQ(Key("2001:db8:1:2ff::1", {.v6_prefix = 56}), "2001:db8:1:200::/56");
}

TEST(IpAddressTest, PortsAndBracketsAreStripped) {
  EXPECT_EQ(Key("198.51.100.7:5123"), "198.51.100.7");
  EXPECT_EQ(Key("198.51.100.7:5124"), "198.51.100.7");
  EXPECT_EQ(Key("[2001:db8::1]:443"), Key("2001:db8::1"));
  EXPECT_EQ(Key("[2001:db8::1]"), Key("2001:db8::1"));
}

TEST(IpAddressTest, WhatIsNoAddressIsNone) {
  for (const char* text :
       {"",
        "localhost",
        "192.0.2",
        "192.0.2.256",
        "192.0.2.01",
        " 192.0.2.1",
        "192.0.2.1 ",
        "192.0.2.1:",
        "192.0.2.1:port",
        "192.0.2.1:123456",
        "[2001:db8::1",
        "[2001:db8::1]x",
        "[2001:db8::1]:",
        "fe80::1%eth0",
        "2001:db8:::1",
        ":",
        "[]",
        "192.0.2.1/32",
        "1111:2222:3333:4444:5555:6666:7777:8888:9999",
        "11111111111111111111111111111111111111111111111111111111111111111111111"}) {
    EXPECT_EQ(Key(text), "none") << text;
  }
  EXPECT_EQ(Key(std::string_view("192.0.2.1\0", 10)), "none");
}

// The C library is the oracle: for every octet, and for texts with a byte wrong.
TEST(IpAddressTest, Ipv4ReadsAndWritesAsTheCLibraryDoes) {
  std::mt19937 random(1);
  constexpr std::string_view kSigns = "0123456789.. x";
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (unsigned octet = 0; octet < 4; ++octet) {
      const unsigned value = round < 256 ? (static_cast<unsigned>(round) + octet * 37) % 256
                                         : static_cast<unsigned>(random() % 300);
      text += (octet == 0 ? "" : ".") + std::to_string(value);
    }
    if (round >= 256 && round % 2 == 0) {
      text[random() % text.size()] = kSigns[random() % kSigns.size()];
    }
    in_addr expected{};
    const bool good = inet_pton(AF_INET, text.c_str(), &expected) == 1;
    const auto address = IpAddress::Parse(text);
    ASSERT_EQ(address.has_value(), good) << text;
    if (good) {
      std::array<char, INET_ADDRSTRLEN> canonical{};
      inet_ntop(AF_INET, &expected, canonical.data(), canonical.size());
      ASSERT_EQ(address->Text().view(), canonical.data());
    }
  }
}

TEST(IpPrefixTest, ReadsBlocksAndTellsHostBits) {
  const auto text_of = [](std::string_view text) {
    const auto block = IpPrefix::Parse(text);
    return block.has_value() ? std::string(block->Text().view()) + (block->HasHostBits() ? "!" : "")
                             : "none";
  };
  EXPECT_EQ(text_of("10.0.0.0/8"), "10.0.0.0/8");
  EXPECT_EQ(text_of("10.0.0.1/8"), "10.0.0.1/8!");
  EXPECT_EQ(text_of("10.0.0.1"), "10.0.0.1/32");
  EXPECT_EQ(text_of("0.0.0.0/0"), "0.0.0.0/0");
  EXPECT_EQ(text_of("2001:db8::/32"), "2001:db8::/32");
  EXPECT_EQ(text_of("2001:db8::1/32"), "2001:db8::1/32!");
  EXPECT_EQ(text_of("::ffff:10.0.0.0/104"), "10.0.0.0/8");
  for (const char* wrong : {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x", "/8",
                            "::/129", "10.0.0.0/0008"}) {
    EXPECT_EQ(text_of(wrong), "none") << wrong;
  }
}

TEST(IpPrefixTest, ContainsByFamilyAndBits) {
  const IpPrefix ten = *IpPrefix::Parse("10.1.0.0/16");
  EXPECT_TRUE(ten.Contains(*IpAddress::Parse("10.1.255.255")));
  EXPECT_TRUE(ten.Contains(*IpAddress::Parse("::ffff:10.1.9.9")));
  EXPECT_FALSE(ten.Contains(*IpAddress::Parse("10.2.0.0")));
  EXPECT_FALSE(ten.Contains(*IpAddress::Parse("::a01:203")));
  EXPECT_FALSE(IpPrefix::Parse("::/0")->Contains(*IpAddress::Parse("10.1.2.3")));
}

}  // namespace
}  // namespace sluice::rules
