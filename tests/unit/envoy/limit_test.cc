#include "envoy/limit.h"

#include <chrono>

#include <gtest/gtest.h>

namespace sluice::envoy {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

TEST(UnitTest, AMonthIsThirtyDays) {
  EXPECT_EQ(LengthOf(Unit::kSecond), 1s);
  EXPECT_EQ(LengthOf(Unit::kWeek), 168h);
  EXPECT_EQ(LengthOf(Unit::kMonth), 720h);
  EXPECT_EQ(LengthOf(Unit::kYear), 8760h);
}

TEST(UnitTest, NamesAreReadInAnyCase) {
  EXPECT_EQ(UnitNamed("Minute"), Unit::kMinute);
  EXPECT_EQ(UnitNamed("WEEK"), Unit::kWeek);
  EXPECT_EQ(UnitNamed("unknown"), std::nullopt);
  EXPECT_EQ(UnitNamed(""), std::nullopt);
  EXPECT_EQ(NameOf(Unit::kDay), "DAY");
  EXPECT_EQ(NameOf(static_cast<Unit>(99)), "UNKNOWN");
}

TEST(UnitTest, APeriodIsToldInTheNearestUnit) {
  EXPECT_EQ(NearestUnit(10, 30s).unit, Unit::kMinute);
  EXPECT_EQ(NearestUnit(10, 30s).requests, 20U);
  EXPECT_EQ(NearestUnit(10, 60s).requests, 10U);
  EXPECT_EQ(NearestUnit(10, 90s).unit, Unit::kHour);
  EXPECT_EQ(NearestUnit(10, 90s).requests, 400U);
  EXPECT_EQ(NearestUnit(10, 100ms).unit, Unit::kSecond);
  EXPECT_EQ(NearestUnit(10, 100ms).requests, 100U);
  EXPECT_EQ(NearestUnit(4'000'000'000, 1ms).requests, 4'294'967'295U);
}

}  // namespace
}  // namespace sluice::envoy
