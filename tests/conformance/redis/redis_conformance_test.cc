#include <memory>

#include "conformance/store/key_store_conformance.h"
#include "support/redis_store_fixture.h"

namespace sluice::conformance {
namespace {

// One server for all tests of a process: each test begins with an empty one.
support::RedisServer& Server() {
  static support::RedisServer server;
  return server;
}

redis::RedisSettings Settings() {
  redis::RedisSettings settings = support::PatientSettings(Server());
  settings.channel.by_given_clock = true;
  return settings;
}

class RedisFixture final : public StoreFixture {
 public:
  RedisFixture() : redis_((Server().Run({"FLUSHALL"}), Settings()), clock_) { redis_.RunUntilUp(); }
  store::KeyStore& store() override { return redis_.store(); }
  void Advance(Duration by) override { clock_.Advance(by); }
  void StepWallClock(Duration by) override { clock_.StepWallClock(by); }
  [[nodiscard]] Duration resolution() const override { return std::chrono::microseconds(1); }
  void Pump() override { redis_.RunUntilIdle(); }

 private:
  support::ManualClock clock_;
  support::LoopedRedisStore redis_;
};

INSTANTIATE_TEST_SUITE_P(Redis, KeyStoreConformance,
                         ::testing::Values(NamedFixture{
                             "GivenClock", [] { return std::make_unique<RedisFixture>(); }}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace sluice::conformance
