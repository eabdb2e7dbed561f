#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "telemetry/counter.h"
#include "telemetry/registry.h"

namespace sluice::redis {

// What became of the calls to Redis and of the connections to it.
enum class RedisCount : std::uint8_t {
  kAnswered,     // In time, by Redis.
  kTimedOut,     // Not answered by their deadline.
  kRefused,      // Not sent: no connection, the breaker open, or too many under way.
  kFailed,       // Answered with an error.
  kLost,         // Under way when their connection ended.
  kLateCharges,  // Charged after their sender had another answer; sent back.
  kConnects,
  kScriptLoads,
  kUndos,  // Parts of requests over several slots taken back, as another part was denied.
  kBans,   // Keys that denials banned.
};
inline constexpr std::size_t kRedisCounts = 10;

// Shared by all channels of a store. Any thread.
class RedisMetrics final : public telemetry::Source {
 public:
  void Count(RedisCount what, std::uint64_t n = 1) noexcept {
    const auto i = static_cast<std::size_t>(what);
    counts_[i / kPerGroup].Add(i % kPerGroup, n);
  }
  [[nodiscard]] std::uint64_t Read(RedisCount what) const noexcept {
    const auto i = static_cast<std::size_t>(what);
    return counts_[i / kPerGroup].Read(i % kPerGroup);
  }
  void AddUp(int by) noexcept { up_.fetch_add(by, std::memory_order_relaxed); }
  void AddOpen(int by) noexcept { open_.fetch_add(by, std::memory_order_relaxed); }

  void Write(telemetry::Exposition& out) const override;

 private:
  static constexpr std::size_t kPerGroup = telemetry::CounterGroup::kWidth;
  std::array<telemetry::CounterGroup, (kRedisCounts + kPerGroup - 1) / kPerGroup> counts_;
  std::atomic<int> up_{0};    // Connections in use.
  std::atomic<int> open_{0};  // Breakers that are open.
};

}  // namespace sluice::redis
