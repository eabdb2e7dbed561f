// Keeps to the limits that a server shows, in the time of a clock that the tests advance.
#include <gtest/gtest.h>

#include "fake_clock.h"
#include "sluice_client.h"

namespace sluice_client {
namespace {

Answer Of(int status, FieldList fields) {
  return {status, std::move(fields), ""};
}

class ThrottleTest : public ::testing::Test {
 protected:
  // Sends one request, which the answers meet in turn.
  Answer Send(const Throttle::Request& request, std::vector<Answer> answers) {
    std::size_t next = 0;
    return throttle_.Run(request, [&] {
      ++sent_;
      return answers.at(next++);
    });
  }

  FakeClock clock_;
  Throttle throttle_{Policy{}, clock_};
  int sent_ = 0;
};

TEST_F(ThrottleTest, WaitsAfterARefusalAsLongAsTheServerSays) {
  const Answer last = Send({"h", "h/a"}, {Of(429, {{"Retry-After", "7"}}), Of(200, {})});
  EXPECT_EQ(last.status, 200);
  EXPECT_EQ(clock_.slept, std::vector<std::int64_t>{7000});
}

TEST_F(ThrottleTest, WaitsBeforeItSendsWhereTheQuotaIsUsedUp) {
  Send({"h", "h/a"}, {Of(200, {{"RateLimit", "\"x\";r=0;t=5"}})});
  EXPECT_EQ(throttle_.Holding("h", "h/a")->first.count(), 5000);
  EXPECT_FALSE(throttle_.Holding("h", "h/b"));
  Send({"h", "h/b"}, {Of(200, {})});
  EXPECT_TRUE(clock_.slept.empty()) << "another resource does not wait";
  Send({"h", "h/a"}, {Of(200, {})});
  EXPECT_EQ(clock_.slept, std::vector<std::int64_t>{5000});
}

TEST_F(ThrottleTest, CountsWhatIsLeft) {
  Send({"h", "h/a"}, {Of(200, {{"RateLimit", "\"x\";r=2;t=9"}})});
  Send({"h", "h/a"}, {Of(200, {})});
  Send({"h", "h/a"}, {Of(200, {})});
  EXPECT_TRUE(clock_.slept.empty());
  Send({"h", "h/a"}, {Of(200, {})});
  EXPECT_EQ(clock_.slept, std::vector<std::int64_t>{9000});
}

TEST_F(ThrottleTest, ResourcesOfOneNamedBucketShareIt) {
  const FieldList open = {{"X-RateLimit-Resource", "core"}};
  Send({"h", "h/a"}, {Of(200, open)});
  Send({"h", "h/b"}, {Of(200, {{"X-RateLimit-Resource", "core"},
                               {"X-RateLimit-Remaining", "0"},
                               {"X-RateLimit-Reset-After", "3"}})});
  EXPECT_EQ(throttle_.Holding("h", "h/a")->first.count(), 3000);
}

TEST_F(ThrottleTest, ALimitForAllBucketsHoldsTheHost) {
  Policy once;
  once.max_attempts = 1;
  Throttle throttle(once, clock_);
  const auto refused = [] {
    return Of(429, {{"Retry-After", "4"}, {"X-RateLimit-Global", "true"}});
  };
  EXPECT_EQ(throttle.Run({"h", "h/a"}, refused).status, 429);
  EXPECT_EQ(throttle.Holding("h", "h/b")->first.count(), 4000);
  EXPECT_FALSE(throttle.Holding("g", "g/b"));
}

TEST_F(ThrottleTest, DoesNotBeginAWaitThatIsTooLong) {
  EXPECT_EQ(Send({"h", "h/a"}, {Of(429, {{"Retry-After", "3600"}})}).status, 429);
  EXPECT_THROW(Send({"h", "h/a"}, {}), Throttled);
  Send({"h", "h/b"}, {Of(200, {{"RateLimit", "\"x\";r=0;t=5"}})});
  Throttle::Request hurried{"h", "h/b"};
  hurried.deadline = Milliseconds(2000);
  EXPECT_THROW(Send(hurried, {}), Throttled);
  EXPECT_TRUE(clock_.slept.empty());
  EXPECT_EQ(sent_, 2);
}

TEST_F(ThrottleTest, AFailedRequestIsNoLongerUnderWay) {
  Send({"h", "h/a"}, {Of(200, {{"RateLimit", "\"x\";r=1;t=9"}})});
  const auto fail = []() -> Answer { throw std::runtime_error("connection refused"); };
  EXPECT_THROW(throttle_.Run({"h", "h/a"}, fail), std::runtime_error);
  Send({"h", "h/a"}, {Of(200, {})});
  EXPECT_EQ(clock_.slept, std::vector<std::int64_t>{9000})
      << "the unit counts as used, nothing is under way";
}

TEST_F(ThrottleTest, AnyNumberOfResourcesTakesBoundedRoom) {
  for (int i = 0; i < 10'000; ++i) {
    Send({"h", "h/" + std::to_string(i)}, {Of(200, {{"X-RateLimit-Bucket", std::to_string(i)}})});
  }
  Send({"h", "h/0"}, {Of(200, {})});
  EXPECT_TRUE(clock_.slept.empty());
}

}  // namespace
}  // namespace sluice_client
