// CL.THROTTLE against what redis-cell answers, over a front end and a table.
#include <chrono>
#include <cstdint>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/resp/front_end_fixture.h"

namespace sluice::frontend::resp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::StartsWith;

class ThrottleTest : public FrontEndFixture {
 protected:
  void SetUp() override {
    MakeFrontEnd();
    client_ = Connect();
  }
  std::string Throttle(const std::string& rest) { return Ask(*client_, "CL.THROTTLE " + rest); }

  std::unique_ptr<net::FakeClient> client_;
};

// Five a second apart, and five at once. Waits are rounded up to whole seconds.
TEST_F(ThrottleTest, TraceOfFiveAtOnceAndOneASecond) {
  const std::string key = "k 4 1 1 ";
  EXPECT_EQ(Throttle(key + "6"), "[1 5 5 -1 0]");
  EXPECT_EQ(Throttle(key + "1"), "[0 5 4 -1 1]");
  EXPECT_EQ(Throttle(key + "1"), "[0 5 3 -1 2]");
  EXPECT_EQ(Throttle("k 4 1 1"), "[0 5 2 -1 3]");
  EXPECT_EQ(Throttle(key + "1"), "[0 5 1 -1 4]");
  EXPECT_EQ(Throttle(key + "1"), "[0 5 0 -1 5]");
  EXPECT_EQ(Throttle(key + "1"), "[1 5 0 1 5]");
  clock_.Advance(seconds(3));
  EXPECT_EQ(Throttle(key + "1"), "[0 5 2 -1 3]");
  clock_.Advance(milliseconds(100));  // 2.9 s are owed: one more makes 3.9.
  EXPECT_EQ(Throttle(key + "1"), "[0 5 1 -1 4]");
  clock_.Advance(milliseconds(900));
  EXPECT_EQ(Throttle(key + "1"), "[0 5 1 -1 4]");
  clock_.Advance(seconds(4));
  EXPECT_EQ(Throttle(key + "1"), "[0 5 4 -1 1]");
  clock_.Advance(milliseconds(1500));
  EXPECT_EQ(Throttle(key + "1"), "[0 5 4 -1 1]");
  EXPECT_EQ(Throttle(key + "0"), "[0 5 4 -1 1]");
  EXPECT_EQ(Throttle(key + "2"), "[0 5 2 -1 3]");
  EXPECT_EQ(Throttle(key + "5"), "[1 5 2 3 3]");
}

TEST_F(ThrottleTest, AnswersWhatTheReadmesShow) {
  EXPECT_EQ(Throttle("user123 15 30 60"), "[0 16 15 -1 2]");
  EXPECT_EQ(Throttle("one 0 1 2"), "[0 1 0 -1 2]");
  EXPECT_EQ(Throttle("one 0 1 2"), "[1 1 0 2 2]");
}

TEST_F(ThrottleTest, CutsWaitsToMillisecondsBeforeItRoundsThemUp) {
  EXPECT_EQ(Throttle("k 0 2000 1"), "[0 1 0 -1 0]");  // Half a millisecond.
  EXPECT_EQ(Throttle("k 0 2000 1"), "[1 1 0 0 0]");
  EXPECT_EQ(Throttle("m 0 1000 1"), "[0 1 0 -1 1]");  // One.
  clock_.Advance(Duration(1));
  EXPECT_EQ(Throttle("m 0 1000 1"), "[1 1 0 0 0]");
}

TEST_F(ThrottleTest, AQuantityOfZeroAlwaysPassesAndWritesNothing) {
  EXPECT_EQ(Throttle("k 2 1 60 0"), "[0 3 3 -1 0]");
  EXPECT_EQ(table_->Stats().inserts, 0U);
  EXPECT_EQ(Throttle("k 2 1 60 3"), "[0 3 0 -1 180]");
  EXPECT_EQ(Throttle("k 2 1 60"), "[1 3 0 60 180]");
  clock_.Advance(milliseconds(59'999));
  EXPECT_EQ(Throttle("k 2 1 60 0"), "[0 3 0 -1 121]");
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(Throttle("k 2 1 60 1"), "[0 3 0 -1 180]");
}

TEST_F(ThrottleTest, UnitsOwedCarryOverToOtherNumbers) {
  EXPECT_EQ(Throttle("k 9 10 60 6"), "[0 10 4 -1 36]");
  EXPECT_EQ(Throttle("k 19 10 60 0"), "[0 20 14 -1 36]");  // A burst of twice as much,
  EXPECT_EQ(Throttle("k 9 20 60 0"), "[0 10 4 -1 18]");    // a rate of twice as much,
  EXPECT_EQ(Throttle("k 9 10 7 0"), "[0 10 4 -1 5]");      // another period: 4.2 s,
  // a longer one: but what was to be paid back in 36 seconds is forgotten then,
  EXPECT_EQ(Throttle("k 9 10 3600 0"), "[0 10 4 -1 36]");
  EXPECT_EQ(Throttle("k 9 10 3600 4"), "[0 10 0 -1 3600]");  // unless it is spent from,
  EXPECT_EQ(Throttle("k 9 10 3600 1"), "[1 10 0 360 3600]");
  EXPECT_EQ(Throttle("k 4 10 60 1"), "[1 5 0 36 60]");  // and a burst below what is owed.
}

TEST_F(ThrottleTest, KeysAreBytesAndNobodyElses) {
  client_->Send(std::string(
      "*5\r\n$11\r\nCL.THROTTLE\r\n$3\r\na\0\n\r\n$1\r\n0\r\n$1\r\n1\r\n$2\r\n60\r\n", 53));
  Turn();
  EXPECT_THAT(Received(*client_), testing::ElementsAre("[0 1 0 -1 60]"));
  EXPECT_EQ(Throttle("a 0 1 60"), "[0 1 0 -1 60]");
  // A rule's key of the same text is another.
  EXPECT_THAT(Ask(*client_, "SLUICE.CHECK api user_id=a"), StartsWith("[allowed 1 remaining 9"));
}

TEST_F(ThrottleTest, WhatIsOutOfRangeIsAnError) {
  const struct {
    const char* rest;
    const char* error;
  } cases[] = {
      {"k -1 1 1", "ERR max_burst must be a whole number from 0 to 999999999999998"},
      {"k 999999999999999 1 1", "ERR max_burst must be"},
      {"k 9223372036854775807 1 1", "ERR max_burst must be"},
      {"k 9223372036854775808 1 1", "ERR max_burst must be"},
      {"k 1.5 1 1", "ERR max_burst must be"},
      {"k 1x 1 1", "ERR max_burst must be"},
      {"k 1 0 1", "ERR count must be a whole number from 1 to 999999999999999"},
      {"k 1 -1 1", "ERR count must be"},
      {"k 1 1000000000000000 1", "ERR count must be"},
      {"k 1 1 0", "ERR period must be a whole number from 1 to 3153600000 seconds"},
      {"k 1 1 -1", "ERR period must be"},
      {"k 1 1 3153600001", "ERR period must be"},
      {"k 1 1 1 -1", "ERR quantity must be a whole number from 0 to 999999999999999"},
      {"k 1 1 1 1000000000000000", "ERR quantity must be"},
      {"k 999999999999998 1 3600", "ERR burst 999999999999999 would take more than 36500d"},
      {"k 1 1", "ERR wrong number of arguments"},
      {"k 1 1 1 1 1", "ERR wrong number of arguments"},
      {"k", "ERR wrong number of arguments"},
  };
  for (const auto& each : cases) {
    EXPECT_THAT(Throttle(each.rest), StartsWith(each.error)) << each.rest;
  }
  EXPECT_THAT(Throttle(std::string(1025, 'k') + " 1 1 1"),
              StartsWith("ERR the key may have at most 1024"));
  EXPECT_EQ(Throttle(std::string(1024, 'k') + " 1 1 1"), "[0 2 1 -1 1]");
  EXPECT_EQ(Throttle("most 999999999999998 999999999999999 1"),
            "[0 999999999999999 999999999999998 -1 0]");
  EXPECT_EQ(Throttle("long 0 1 3153600000"), "[0 1 0 -1 3153600000]");
  EXPECT_EQ(Throttle("k 1 1 1"), "[0 2 1 -1 1]");  // Nothing of it has touched the key.
}

TEST_F(ThrottleTest, CountsUnderARuleOfItsOwn) {
  Throttle("k 0 1 60");
  Throttle("k 0 1 60");
  EXPECT_EQ(metrics_.Count(service::kThrottleRule, service::Outcome::kAllowed), 1U);
  EXPECT_EQ(metrics_.Count(service::kThrottleRule, service::Outcome::kDenied), 1U);
  EXPECT_EQ(metrics_.Count(service::RequestResult::kAllowed), 1U);
  EXPECT_EQ(metrics_.Count(service::RequestResult::kDenied), 1U);
}

// redis-cell's own arithmetic, for parameters that its nanoseconds divide evenly.
class Cell {
 public:
  Cell(std::int64_t burst, std::int64_t interval) : limit_(burst + 1), interval_(interval) {}

  std::string Throttle(std::int64_t now, std::int64_t quantity) {
    const std::int64_t capacity = interval_ * limit_;
    const std::int64_t increment = interval_ * quantity;
    const std::int64_t next = std::max(now, tat_) + increment;
    // Quantity 0 passes there whatever is owed; for unchanging parameters that is no exception.
    const bool limited = now < next - capacity;
    std::int64_t retry = -1;
    std::int64_t ttl = 0;
    if (limited) {
      ttl = std::max<std::int64_t>(tat_ - now, 0);
      retry = increment <= capacity ? Seconds(next - capacity - now) : -1;
    } else {
      tat_ = next;
      ttl = next - now;
    }
    const std::int64_t left = capacity - ttl;
    const std::int64_t remaining = left > -interval_ ? left / interval_ : 0;
    return "[" + std::to_string(limited ? 1 : 0) + " " + std::to_string(limit_) + " " +
           std::to_string(remaining) + " " + std::to_string(retry) + " " +
           std::to_string(Seconds(ttl)) + "]";
  }

 private:
  static std::int64_t Seconds(std::int64_t ns) { return (ns / 1'000'000 + 999) / 1000; }

  std::int64_t limit_;
  std::int64_t interval_;
  std::int64_t tat_ = 0;
};

TEST_F(ThrottleTest, AgreesWithRedisCellWhileTheNumbersStay) {
  std::mt19937_64 random(11);
  for (int key = 0; key < 60; ++key) {
    constexpr std::int64_t kCounts[] = {1, 2, 4, 5, 8, 10, 100, 1000, 4000};
    const std::int64_t count = kCounts[random() % std::size(kCounts)];
    const auto period = static_cast<std::int64_t>(1 + random() % 100);
    const auto burst = static_cast<std::int64_t>(random() % 10);
    Cell cell(burst, period * 1'000'000'000 / count);
    std::int64_t now = support::ManualClock::kStartNs;
    const std::string numbers = "k" + std::to_string(key) + " " + std::to_string(burst) + " " +
                                std::to_string(count) + " " + std::to_string(period) + " ";
    for (int i = 0; i < 60; ++i) {
      const auto step = static_cast<std::int64_t>(
          random() % static_cast<std::uint64_t>(2 * period * 1'000'000'000 / count));
      clock_.Advance(Duration(step));
      now += step;
      const std::string quantity = std::to_string(random() % 5);
      ASSERT_EQ(Throttle(numbers + quantity), cell.Throttle(now, std::stoll(quantity)))
          << numbers << quantity << " step " << i;
    }
  }
}

class ThrottleOnAFullTableTest : public FrontEndFixture {};

TEST_F(ThrottleOnAFullTableTest, SaysWhenThereIsNoRoomToRememberAKey) {
  MakeFrontEnd({}, false, {.path = {}, .when_full = WhenFull::kDeny});
  const auto client = Connect();
  std::string last;
  for (int i = 0; i < 5000 && !last.starts_with("SHED"); ++i) {
    last = Ask(*client, "CL.THROTTLE k" + std::to_string(i) + " 0 1 60");
  }
  EXPECT_EQ(last, "SHED store_full");
}

}  // namespace
}  // namespace sluice::frontend::resp
