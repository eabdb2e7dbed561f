#include "redis/redis_metrics.h"

#include <array>
#include <string_view>

#include "telemetry/registry.h"

namespace sluice::redis {

std::uint64_t RedisMetrics::UnderWay() const noexcept {
  // In this order: a call that ends in between is not counted as one that never began.
  const std::uint64_t ended = Read(RedisCount::kEnded);
  const std::uint64_t begun = Read(RedisCount::kBegun);
  return begun < ended ? 0 : begun - ended;
}

std::optional<Duration> RedisMetrics::ClockOffset() const noexcept {
  const std::int64_t ns = clock_offset_ns_.load(std::memory_order_relaxed);
  return ns == kNotMeasured ? std::nullopt : std::optional(Duration(ns));
}

void RedisMetrics::Write(telemetry::Exposition& out) const {
  using Type = telemetry::Exposition::Type;
  struct Row {
    std::string_view result;
    RedisCount count;
  };
  constexpr std::array kRows{Row{"answered", RedisCount::kAnswered},
                             Row{"timed_out", RedisCount::kTimedOut},
                             Row{"refused", RedisCount::kRefused},
                             Row{"failed", RedisCount::kFailed}, Row{"lost", RedisCount::kLost}};
  out.Family("sluice_redis_calls_total", "Calls to Redis by result.", Type::kCounter);
  for (const Row& row : kRows) {
    const std::array labels{telemetry::Label{.name = "result", .value = row.result}};
    out.Sample("sluice_redis_calls_total", labels, Read(row.count));
  }
  out.Family("sluice_store_duration_seconds",
             "Time from a call to Redis to its answer or its timeout, in seconds.",
             Type::kHistogram);
  const std::array main{telemetry::Label{.name = "store", .value = "redis"}};
  out.Samples("sluice_store_duration_seconds", main, Durations(RedisServer::kMain));
  if (has_seconds_) {
    const std::array seconds{telemetry::Label{.name = "store", .value = "redis_per_second"}};
    out.Samples("sluice_store_duration_seconds", seconds, Durations(RedisServer::kPerSecond));
  }
  out.Family("sluice_store_calls_in_flight", "Calls to Redis that have no answer yet.",
             Type::kGauge);
  out.Sample("sluice_store_calls_in_flight", {}, UnderWay());
  out.Family("sluice_clock_offset_seconds",
             "How far this node's wall clock is ahead of Redis's, in seconds.", Type::kGauge);
  if (const auto offset = ClockOffset()) {
    out.Sample("sluice_clock_offset_seconds", {}, static_cast<double>(offset->count()) / 1e9);
  }
  out.Family("sluice_redis_late_charges_total", "Late charges that were refunded.", Type::kCounter);
  out.Sample("sluice_redis_late_charges_total", {}, Read(RedisCount::kLateCharges));
  out.Family("sluice_redis_undos_total", "Undone parts of requests over several cluster slots.",
             Type::kCounter);
  out.Sample("sluice_redis_undos_total", {}, Read(RedisCount::kUndos));
  out.Family("sluice_redis_bans_total", "Bans caused by denials on this node.", Type::kCounter);
  out.Sample("sluice_redis_bans_total", {}, Read(RedisCount::kBans));
  out.Family("sluice_redis_connects_total", "Connections to Redis made.", Type::kCounter);
  out.Sample("sluice_redis_connects_total", {}, Read(RedisCount::kConnects));
  out.Family("sluice_redis_script_loads_total", "Scripts sent to Redis.", Type::kCounter);
  out.Sample("sluice_redis_script_loads_total", {}, Read(RedisCount::kScriptLoads));
  out.Family("sluice_redis_connections_up", "Open connections to Redis.", Type::kGauge);
  out.Sample("sluice_redis_connections_up", {},
             static_cast<double>(up_.load(std::memory_order_relaxed)));
  out.Family("sluice_redis_breakers_open", "Worker threads with an open circuit breaker to Redis.",
             Type::kGauge);
  out.Sample("sluice_redis_breakers_open", {},
             static_cast<double>(open_.load(std::memory_order_relaxed)));
}

}  // namespace sluice::redis
