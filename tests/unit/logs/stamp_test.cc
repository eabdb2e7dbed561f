#include "logs/stamp.h"

#include <chrono>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "unit/logs/parser_fixture.h"

namespace sluice::logs {
namespace {

std::int64_t Ms(const std::optional<WallInstant>& at) {
  return at ? MsOf(*at) : -1;
}

TEST(StampTest, ReadsClfStampsInTheirOwnZone) {
  StampReader stamps = StampsIn("UTC");
  EXPECT_EQ(Ms(stamps.Clf("17/Dec/2025:09:03:01 +0000")), 1'765'962'181'000);
  EXPECT_EQ(Ms(stamps.Clf("17/Dec/2025:09:03:01 +0100")), 1'765'958'581'000);
  EXPECT_EQ(Ms(stamps.Clf("17/Dec/2025:09:03:01 -0330")), 1'765'974'781'000);
  EXPECT_EQ(Ms(stamps.Clf("17/Dec/2025:23:30:00 -0100")), 1'766'017'800'000);  // The next day.
  EXPECT_EQ(Ms(stamps.Clf("17/Dec/2025:09:03:01.25 +0000")), 1'765'962'181'250);
}

TEST(StampTest, ReadsStampsWithoutAZoneInTheGivenOne) {
  StampReader berlin = StampsIn("Europe/Berlin");
  EXPECT_EQ(Ms(berlin.Clf("02/Feb/2012:04:05:24.385")), 1'328'151'924'385);
  EXPECT_EQ(Ms(berlin.Clf("02/Jul/2012:04:05:24.385")), 1'341'194'724'385);  // Summer: +2.
  EXPECT_EQ(Ms(berlin.Iso("2012-02-02 04:05:24")), 1'328'151'924'000);
  EXPECT_EQ(Ms(berlin.Iso("2012-02-02T04:05:24Z")), 1'328'155'524'000);
}

TEST(StampTest, TakesTheFirstOfAnHourThatComesTwice) {
  StampReader berlin = StampsIn("Europe/Berlin");
  EXPECT_EQ(Ms(berlin.Iso("2025-10-26 02:30:00")), 1'761'438'600'000);  // Still +02:00.
  EXPECT_EQ(Ms(berlin.Iso("2025-10-26 03:00:00")), 1'761'444'000'000);
  EXPECT_EQ(Ms(berlin.Iso("2025-03-30 02:30:00")), 1'743'298'200'000);  // Never was: by +01:00.
}

TEST(StampTest, ReadsIsoStampsWithFractionsOfAnyLength) {
  StampReader stamps = StampsIn("UTC");
  EXPECT_EQ(stamps.Iso("2023-11-16 18:17:03.9799600")->time_since_epoch().count(),
            1'700'158'623'979'960'000);
  EXPECT_EQ(stamps.Iso("2023-11-16T18:17:03,1234567891+01:00")->time_since_epoch().count(),
            1'700'155'023'123'456'789);
  EXPECT_EQ(Ms(stamps.Iso("2023-11-16 18:17:03 UTC")), 1'700'158'623'000);
}

TEST(StampTest, TellsTheUnitOfANumberByItsSize) {
  EXPECT_EQ(Ms(StampReader::Epoch("1700158623")), 1'700'158'623'000);
  EXPECT_EQ(Ms(StampReader::Epoch("1700158623.979")), 1'700'158'623'979);
  EXPECT_EQ(Ms(StampReader::Epoch("1700158623979")), 1'700'158'623'979);
  EXPECT_EQ(Ms(StampReader::Epoch("1700158623979960")), 1'700'158'623'979);
  EXPECT_EQ(Ms(StampReader::Epoch("1700158623979960000")), 1'700'158'623'979);
  EXPECT_EQ(StampReader::Epoch("1700158623979.5")->time_since_epoch().count(),
            1'700'158'623'979'500'000);
}

TEST(StampTest, RefusesWhatIsNoTime) {
  StampReader stamps = StampsIn("UTC");
  for (const char* text :
       {"", "-", "17/Dec/2025", "30/Feb/2025:09:03:01 +0000", "17/Dez/2025:09:03:01 +0000",
        "17/Dec/2025:24:00:00 +0000", "17/Dec/2025:09:60:01 +0000", "17/Dec/2025:09:03:01 +0000 x",
        "17/Dec/1969:09:03:01 +0000", "17/Dec/2262:09:03:01 +0000", "2025-13-17T09:03:01Z",
        "2025-12-17T09:03:01.Z", "2025-12-17", "99999999999999999999", "12x", "0x12"}) {
    EXPECT_FALSE(stamps.Any(text)) << text;
  }
  EXPECT_FALSE(StampReader::In("Mars/Olympus"));
}

TEST(StampTest, WhatIsRememberedIsTakenForNoOtherStamp) {
  StampReader stamps = StampsIn("UTC");
  EXPECT_FALSE(stamps.Clf(std::string(26, '\0')));
  const auto noon = stamps.Clf("17/Dec/2025:12:00:00 +0000");
  ASSERT_TRUE(noon);
  EXPECT_EQ(stamps.Clf("17/Dec/2025:12:00:00 +0000"), noon);
  EXPECT_EQ(stamps.Clf("17/Dec/2025:12:00:00 +0001"), *noon - std::chrono::minutes(1));
  EXPECT_EQ(stamps.Clf("17/Dec/2025:12:00:00"), noon);
  EXPECT_FALSE(stamps.Clf("17/Dec/2025:12:00:00 +000x"));
  EXPECT_EQ(stamps.Clf("17/Dec/2025:12:00:00 +0000"), noon);
}

TEST(StampTest, AMistakenDayDoesNotStayRemembered) {
  StampReader stamps = StampsIn("UTC");
  EXPECT_TRUE(stamps.Clf("17/Dec/2025:09:03:01 +0000"));
  EXPECT_FALSE(stamps.Clf("31/Nov/2025:09:03:01 +0000"));
  EXPECT_FALSE(stamps.Clf("31/Nov/2025:09:03:01 +0000"));
  EXPECT_EQ(Ms(stamps.Clf("18/Dec/2025:09:03:01 +0000")), 1'766'048'581'000);
}

TEST(StampTest, ReadsNumbersInTheUnitThatIsSaid) {
  const auto ns = [](std::string_view text, Duration unit) {
    const auto at = StampReader::Epoch(text, unit);
    return at ? at->time_since_epoch().count() : -1;
  };
  EXPECT_EQ(ns("1500", std::chrono::milliseconds(1)), 1'500'000'000);
  EXPECT_EQ(ns("1500.25", std::chrono::milliseconds(1)), 1'500'250'000);
  EXPECT_EQ(ns("1500", std::chrono::seconds(1)), 1'500'000'000'000);
  EXPECT_EQ(ns("1741600800123", std::chrono::microseconds(1)), 1'741'600'800'123'000);
  EXPECT_EQ(ns("7", std::chrono::nanoseconds(1)), 7);
  EXPECT_EQ(ns("99999999999999", std::chrono::seconds(1)), -1);
  EXPECT_EQ(ns("soon", std::chrono::seconds(1)), -1);
  EXPECT_EQ(ns("", std::chrono::seconds(1)), -1);
}

}  // namespace
}  // namespace sluice::logs
