#include "base/trace_parent.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::base {
namespace {

constexpr std::string_view kIds = "-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-";

bool IsSampled(const std::string& text) {
  TraceParent parent;
  parent.Take(text);
  return parent.sampled();
}

std::string With(std::string_view version, std::string_view flags) {
  return std::string(version) + std::string(kIds) + std::string(flags);
}

TEST(TraceParentTest, ReadsTheIdsOfASampledTrace) {
  TraceParent parent;
  EXPECT_FALSE(parent.sampled());
  parent.Take(With("00", "01"));
  ASSERT_TRUE(parent.sampled());
  EXPECT_EQ(parent.trace_id(),
            (std::array<std::uint8_t, 16>{0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84,
                                          0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c}));
  EXPECT_EQ(parent.parent_id(),
            (std::array<std::uint8_t, 8>{0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31}));
  EXPECT_EQ(parent.TraceIdText(), "0af7651916cd43dd8448eb211c80319c");
  parent.Clear();
  EXPECT_FALSE(parent.sampled());
}

TEST(TraceParentTest, GoesByTheFirstFlagAlone) {
  EXPECT_TRUE(IsSampled(With("00", "01")));
  EXPECT_TRUE(IsSampled(With("00", "ff")));
  EXPECT_TRUE(IsSampled(With("00", "03")));
  EXPECT_FALSE(IsSampled(With("00", "00")));
  EXPECT_FALSE(IsSampled(With("00", "02")));
}

TEST(TraceParentTest, ALaterVersionMayGoOn) {
  EXPECT_TRUE(IsSampled(With("01", "01")));
  EXPECT_TRUE(IsSampled(With("cc", "01-what-comes-next")));
  EXPECT_FALSE(IsSampled(With("cc", "01.what")));
  EXPECT_FALSE(IsSampled(With("00", "01-what-comes-next")));
  EXPECT_FALSE(IsSampled(With("ff", "01")));
}

TEST(TraceParentTest, WhatIsMalformedIsNoTrace) {
  const std::string good = With("00", "01");
  for (std::size_t i = 0; i < good.size(); ++i) {
    EXPECT_FALSE(IsSampled(good.substr(0, i))) << i;
    std::string bad = good;
    bad[i] = bad[i] == '-' ? '0' : 'g';
    EXPECT_FALSE(IsSampled(bad)) << bad;
    bad[i] = 'A';
    EXPECT_FALSE(IsSampled(bad)) << bad;
  }
  EXPECT_FALSE(IsSampled("00-00000000000000000000000000000000-b7ad6b7169203331-01"));
  EXPECT_FALSE(IsSampled("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"));
}

TEST(TraceParentTest, AMalformedOneLeavesNoTraceOfTheOneBefore) {
  TraceParent parent;
  parent.Take(With("00", "01"));
  parent.Take("00-");
  EXPECT_FALSE(parent.sampled());
}

}  // namespace
}  // namespace sluice::base
