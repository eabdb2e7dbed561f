#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "sluice/time.h"

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
  kUndos,      // Parts of requests over several slots taken back, as another part was denied.
  kBans,       // Keys that denials banned.
  kQueueFull,  // Of those refused: too many were under way.
  kBegun,      // Calls that were handed to a channel,
  kEnded,      // and those of them that have their answer.
};
inline constexpr std::size_t kRedisCounts = 13;

// Of which Redis a duration is.
enum class RedisServer : std::uint8_t { kMain, kPerSecond };

// Shared by all channels of a store. Any thread.
class RedisMetrics final : public telemetry::Source {
 public:
  // `has_seconds`: there is another Redis, for counters of one-second windows.
  explicit RedisMetrics(bool has_seconds = false) : has_seconds_(has_seconds) {}

  void Count(RedisCount what, std::uint64_t n = 1) noexcept {
    const auto i = static_cast<std::size_t>(what);
    counts_[i / kPerGroup].Add(i % kPerGroup, n);
  }
  [[nodiscard]] std::uint64_t Read(RedisCount what) const noexcept {
    const auto i = static_cast<std::size_t>(what);
    return counts_[i / kPerGroup].Read(i % kPerGroup);
  }
  // From a call to its answer, or to its deadline. Calls that were not sent are not recorded.
  void Record(RedisServer server, Duration duration) noexcept {
    durations_[static_cast<std::size_t>(server)].Record(duration);
  }
  [[nodiscard]] telemetry::Histogram::Reading Durations(RedisServer server) const noexcept {
    return durations_[static_cast<std::size_t>(server)].Read();
  }
  // Calls without an answer so far.
  [[nodiscard]] std::uint64_t UnderWay() const noexcept;
  // How far the node's wall clock is ahead of Redis's; negative: behind. Nothing until it has been
  // measured.
  void SetClockOffset(Duration offset) noexcept {
    clock_offset_ns_.store(offset.count(), std::memory_order_relaxed);
  }
  [[nodiscard]] std::optional<Duration> ClockOffset() const noexcept;
  void AddUp(int by) noexcept { up_.fetch_add(by, std::memory_order_relaxed); }
  void AddOpen(int by) noexcept { open_.fetch_add(by, std::memory_order_relaxed); }

  void Write(telemetry::Exposition& out) const override;

 private:
  static constexpr std::size_t kPerGroup = telemetry::CounterGroup::kWidth;
  static constexpr std::int64_t kNotMeasured = std::numeric_limits<std::int64_t>::min();

  const bool has_seconds_;
  std::array<telemetry::CounterGroup, (kRedisCounts + kPerGroup - 1) / kPerGroup> counts_;
  std::array<telemetry::Histogram, 2> durations_;
  std::atomic<std::int64_t> clock_offset_ns_{kNotMeasured};
  std::atomic<int> up_{0};    // Connections in use.
  std::atomic<int> open_{0};  // Breakers that are open.
};

}  // namespace sluice::redis
