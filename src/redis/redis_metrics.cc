#include "redis/redis_metrics.h"

#include <array>
#include <string_view>

#include "telemetry/registry.h"

namespace sluice::redis {

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
