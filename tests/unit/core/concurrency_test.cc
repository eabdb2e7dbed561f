#include "core/concurrency.h"

#include <gtest/gtest.h>

#include "unit/core/steps.h"

namespace sluice::core {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

using Holds = Key<Concurrency>;

Quota InFlight(Units limit, Units ceiling, Duration hold_ttl = 5s) {
  Quota quota;
  quota.algorithm = Algorithm::kConcurrency;
  quota.limit = limit;
  quota.ceiling = ceiling;
  quota.window = hold_ttl;
  EXPECT_EQ(FaultOf(quota), std::nullopt);
  return quota;
}

TEST(ConcurrencyTest, AdmitsUpToTheLimitAndThenDoesNotKnowWhen) {
  Holds key(InFlight(2, 2));
  EXPECT_EQ(key.Check(0s).remaining, 1);
  EXPECT_EQ(key.Check(0s).remaining, 0);
  const Decision denied = key.Check(0s);
  EXPECT_FALSE(denied.allowed);
  EXPECT_EQ(denied.reason, Reason::kInFlight);
  EXPECT_EQ(denied.retry_after, Decision::kUnknown);
  EXPECT_EQ(denied.limit, 2);
}

TEST(ConcurrencyTest, KnowsItsNextAndLastExpiry) {
  Holds key(InFlight(9, 9));
  EXPECT_EQ(key.Check(1s).reset_after, 5s);
  key.quota.window = 2s;
  EXPECT_EQ(key.Check(2s).reset_after, 4s);
  EXPECT_EQ(key.state.next_expiry_ns, Duration(4s).count());
  EXPECT_EQ(key.state.last_expiry_ns, Duration(6s).count());
}

TEST(ConcurrencyTest, TheReserveKeepsOthersOut) {
  Holds others(InFlight(10, 8));
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(others.Check(0s).remaining, 7 - i);
  }
  EXPECT_EQ(others.Check(0s).reason, Reason::kReserved);
  EXPECT_EQ(others.Check(0s).retry_after, Decision::kUnknown);
  EXPECT_EQ(others.Check(0s, 2).reason, Reason::kReserved);
  EXPECT_EQ(others.Check(0s, 3).reason, Reason::kInFlight);
  others.quota.ceiling = 10;  // The same key, asked by the priority that owns the reserve.
  EXPECT_TRUE(others.Check(0s, 2).allowed);
  EXPECT_EQ(others.Check(0s).reason, Reason::kInFlight);
}

TEST(ConcurrencyTest, NeverPassesWhatCannotFit) {
  Holds key(InFlight(10, 8));
  EXPECT_EQ(key.Check(0s, 11).reason, Reason::kCostExceedsCapacity);
  EXPECT_EQ(key.Check(0s, 11).retry_after, Decision::kNever);
  EXPECT_EQ(key.Check(0s, 9).reason, Reason::kReserved);
  EXPECT_EQ(key.Check(0s, 9).retry_after, Decision::kNever);
  Holds zero(InFlight(0, 0));
  EXPECT_EQ(zero.Check(0s, 0).reason, Reason::kLimitZero);
}

TEST(ConcurrencyTest, CostZeroAndPeekHoldNothing) {
  Holds key(InFlight(2, 2));
  EXPECT_TRUE(key.Check(0s, 0).allowed);
  EXPECT_EQ(key.Peek(0s, 2).remaining, 2);
  EXPECT_EQ(key.state.in_flight, 0);
}

TEST(ConcurrencyTest, ALoweredLimitWaitsForReleases) {
  Holds key(InFlight(3, 3));
  key.Check(0s, 3);
  key.quota = InFlight(1, 1);
  EXPECT_EQ(key.Check(0s).remaining, 0);
  key.state.in_flight = 1;
  EXPECT_FALSE(key.Check(0s).allowed);
  key.state.in_flight = 0;
  EXPECT_TRUE(key.Check(0s).allowed);
}

}  // namespace
}  // namespace sluice::core
