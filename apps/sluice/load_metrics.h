#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "net/connection_limit.h"
#include "net/timer_wheel.h"
#include "redis/redis_metrics.h"
#include "telemetry/counter.h"
#include "telemetry/registry.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::app {

// How much work waits, and what is refused for it. Nothing on the path of a decision counts here:
// each loop is looked at four times a second, and the rest is counted where it is refused.
class LoadMetrics final : public telemetry::Source {
 public:
  // `redis`: nullptr if the table is the store. Both outlive it.
  LoadMetrics(const net::ConnectionLimit& connections, const redis::RedisMetrics* redis)
      : connections_(connections), redis_(redis) {}

  void Write(telemetry::Exposition& out) const override;

 private:
  friend class LoopWatch;

  const net::ConnectionLimit& connections_;
  const redis::RedisMetrics* const redis_;
  telemetry::Histogram lag_;
  std::atomic<std::int64_t> in_flight_{0};  // Over all loops, as last looked at.
};

// Looks at one loop: how late its timers fire, which is how long ready work waits behind other
// work, and how many requests it is answering. One thread, the loop's; lives as long as the loop.
class LoopWatch {
 public:
  static constexpr std::chrono::milliseconds kEvery{250};

  // `in_flight` says how many requests the loop is answering. All outlive it.
  LoopWatch(net::EventLoop& loop, LoadMetrics& metrics, std::function<std::size_t()> in_flight);
  LoopWatch(const LoopWatch&) = delete;
  LoopWatch& operator=(const LoopWatch&) = delete;

  // On the loop's thread, or before it runs.
  void Start();

 private:
  void Look();

  net::EventLoop& loop_;
  LoadMetrics& metrics_;
  const std::function<std::size_t()> in_flight_;
  std::int64_t seen_ = 0;  // Requests in flight that metrics_ counts for this loop.
  net::SteadyTime due_;
  net::Timer timer_;
};

// What the kernel says of this process, under the names that Prometheus' client libraries use.
class ProcessMetrics final : public telemetry::Source {
 public:
  void Write(telemetry::Exposition& out) const override;

 private:
  const std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
};

}  // namespace sluice::app
