#include "replay/event.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::replay {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(std::string_view line) {
  EventReader reader;
  const Result<void> read = reader.Read(line);
  return read ? "" : read.error().message;
}

TEST(EventTest, ReadsACheckWithItsAttributes) {
  EventReader reader;
  ASSERT_TRUE(
      reader.Read(R"({"t_ns": 1500000000, "user_id": "a", "n": 42, "ok": true, "cost": 3})"));
  const Event& event = reader.event();
  EXPECT_EQ(event.op, Op::kCheck);
  EXPECT_EQ(event.at, WallInstant(Duration(1'500'000'000)));
  EXPECT_EQ(event.cost.units, 3);
  ASSERT_EQ(event.attributes.size(), 3U);
  EXPECT_EQ(event.attributes[0].name, "user_id");
  EXPECT_EQ(event.attributes[1].value, "42");
  EXPECT_EQ(event.attributes[2].value, "true");
}

TEST(EventTest, ForgetsTheLineBefore) {
  EventReader reader;
  ASSERT_TRUE(reader.Read(R"({"t_ms": 1, "op": "peek", "user_id": "a", "cost": 3})"));
  ASSERT_TRUE(reader.Read(R"({"t_ms": 2})"));
  EXPECT_EQ(reader.event().op, Op::kCheck);
  EXPECT_EQ(reader.event().cost.units, 1);
  EXPECT_TRUE(reader.event().attributes.empty());
  EXPECT_EQ(reader.event().at, WallInstant(std::chrono::milliseconds(2)));
}

TEST(EventTest, TakesTheBodyOfACheck) {
  EventReader reader;
  ASSERT_TRUE(reader.Read(
      R"({"t_ms": 1, "peek": true, "wait": true, "attributes": {"file": "x", "cost": "y"}, "cost": 2})"));
  EXPECT_EQ(reader.event().op, Op::kPeek);
  EXPECT_EQ(reader.event().cost.units, 2);
  ASSERT_EQ(reader.event().attributes.size(), 2U);
  EXPECT_EQ(reader.event().attributes[0].name, "file");
}

TEST(EventTest, RefusesWhatIsNoEvent) {
  EXPECT_NE(ErrorOf("{"), "");
  EXPECT_NE(ErrorOf("[1]"), "");
  EXPECT_THAT(ErrorOf(R"({"user_id": "a"})"), HasSubstr("t_ns or t_ms is missing"));
  EXPECT_THAT(ErrorOf(R"({"t_ns": 1, "t_ms": 1})"), HasSubstr("both"));
  EXPECT_THAT(ErrorOf(R"({"t_ns": -1})"), HasSubstr("t_ns must be"));
  EXPECT_THAT(ErrorOf(R"({"t_ns": 1.5})"), HasSubstr("t_ns must be"));
  EXPECT_THAT(ErrorOf(R"({"t_ms": 9223372036854775})"), HasSubstr("before the year 2162"));
  EXPECT_THAT(ErrorOf(R"({"t_ns": null})"), HasSubstr("t_ns must be"));
  EXPECT_THAT(ErrorOf(R"({"t_ns": 1, "op": "spend"})"), HasSubstr("unknown op spend"));
  EXPECT_THAT(ErrorOf(R"({"t_ns": 1, "op": 7})"), HasSubstr("unknown op"));
  EXPECT_THAT(ErrorOf(R"({"t_ns": 1, "cost": -5})"), HasSubstr("cost"));
  EXPECT_THAT(ErrorOf(R"({"t_ns": 1, "cost": 1.5})"), HasSubstr("cost"));
  EXPECT_THAT(ErrorOf(R"({"t_ns": 1, "cost": "1"})"), HasSubstr("cost"));
  EXPECT_THAT(ErrorOf(R"({"t_ns": 1, "cost": 1000000000000000})"), HasSubstr("cost"));
  EXPECT_THAT(ErrorOf(R"({"t_ns": 1, "op": "release"})"), HasSubstr("hold"));
  EXPECT_THAT(ErrorOf(R"({"t_ns": 1, "op": "release", "hold": 0})"), HasSubstr("from 1"));
  EXPECT_THAT(ErrorOf(R"({"t_ns": 1, "hold": 1})"), HasSubstr("belongs to"));
  EXPECT_THAT(ErrorOf(R"({"t_ns": 1, "op": "rules"})"), HasSubstr("file"));
  EXPECT_THAT(ErrorOf(R"({"t_ns": 1, "file": "x"})"), HasSubstr("belongs to"));
  EXPECT_THAT(ErrorOf(R"({"t_ns": 1, "op": "reset", "peek": true})"), HasSubstr("peek"));
  EXPECT_THAT(ErrorOf(R"({"t_ns": 1, "wait": "yes"})"), HasSubstr("wait"));
}

}  // namespace
}  // namespace sluice::replay
