#pragma once

#include "net/timer_wheel.h"
#include "redis/environment.h"
#include "redis/link.h"

namespace sluice::redis {

// Servers over links of an event loop.
class LoopEnvironment final : public Environment {
 public:
  // All outlive it.
  LoopEnvironment(net::EventLoop& loop, const RedisSettings& settings, const base::Clock& clock,
                  RedisMetrics& metrics, const Channel::OnEvent& on_event);

  std::unique_ptr<Peer> To(const net::DialTarget& target, std::function<void()> on_lost) override;
  [[nodiscard]] Channel::Time Now() const override;
  void WakeAt(Channel::Time when, Sleeper& sleeper) override;
  std::uint64_t DrawId() override;
  [[nodiscard]] bool RunsHere() const override;

 private:
  net::EventLoop& loop_;
  const RedisSettings& settings_;
  const base::Clock& clock_;
  RedisMetrics& metrics_;
  const Channel::OnEvent& on_event_;
  Sleeper* sleeper_ = nullptr;
  net::Timer timer_;
};

}  // namespace sluice::redis
