#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sluice/result.h"

#include "base/clock.h"
#include "daemon_config.h"
#include "envoy/rate_limit_metrics.h"
#include "envoy/rate_limit_service.h"
#include "idempotency/answer_memory.h"
#include "insight/history.h"
#include "insight/insight.h"
#include "lease/lease_store.h"
#include "lifecycle.h"
#include "load_metrics.h"
#include "net/timer_wheel.h"
#include "redis/redis_store.h"
#include "service/fallback.h"
#include "service/limiter_service.h"
#include "service/service_metrics.h"
#include "signing/keyring.h"
#include "store/key_store.h"
#include "stores.h"
#include "telemetry/registry.h"
#include "telemetry/span_queue.h"

namespace sluice::app {

// What decides in a daemon: the keys' stores, and the services over them. Nothing of it does
// anything by itself; it is complete once made, and holds no rules yet.
struct Engine {
  // Opens the table. `config` and `clock` outlive it.
  [[nodiscard]] static Result<std::unique_ptr<Engine>> Open(const DaemonConfig& config,
                                                            const base::Clock& clock);
  Engine(const DaemonConfig& settings, OpenedTable opened, const base::Clock& clock);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // What decides: the table, or leases of what is in Redis.
  [[nodiscard]] store::KeyStore& store() {
    return leases ? static_cast<store::KeyStore&>(*leases) : *table.store;
  }
  // The last hour, with what the metrics are now. From the control loop's thread.
  const insight::History& RecordHistory(const base::Clock& clock);
  // Where keys are kept, in words.
  [[nodiscard]] std::string Describe() const;
  // Envoy's limits in force, in words; "" without that service.
  [[nodiscard]] std::string DescribeEnvoy() const;

  const DaemonConfig& config;
  telemetry::Registry registry;
  ProcessMetrics process;
  service::ServiceMetrics metrics;
  envoy::RateLimitMetrics rate_limit_metrics;
  const std::unique_ptr<telemetry::SpanQueue> spans;  // nullptr: none are exported.
  insight::Insight insight;
  insight::History history;
  OpenedTable table;
  signing::Keyring keys;
  const std::unique_ptr<redis::RedisStore> redis;     // nullptr: the table is the store.
  const std::unique_ptr<lease::LeaseStore> leases;    // Over redis, if that is there.
  const std::unique_ptr<service::Fallback> fallback;  // The same.
  service::LimiterService service;
  const std::unique_ptr<envoy::RateLimitService> rate_limits;  // nullptr: not configured.
  idempotency::AnswerMemory answers;
};

class Server;

// The loops' connections to the Redis that nodes share, and the units that each loop has borrowed.
// Nothing where the table is the store.
class FleetConnections final : public Component {
 public:
  // Both outlive it.
  FleetConnections(Engine& engine, Server& server) : engine_(engine), server_(server) {}

  void Start() override;
  // Gives back what was borrowed, for others to use.
  void Drain() override;
  // Also once that was tried for long enough.
  [[nodiscard]] bool drained() override;

 private:
  Engine& engine_;
  Server& server_;
  // Redis's answers go through the leases, which therefore stay for longer.
  std::vector<std::unique_ptr<lease::LeaseStore::Attachment>> leases_;
  std::vector<std::unique_ptr<redis::RedisStore::Attachment>> redis_;
  net::SteadyTime until_{};
};

// Records the daemon's history every insight::History::kTick.
class HistoryRecorder final : public Component {
 public:
  // All outlive it.
  HistoryRecorder(net::EventLoop& control, const base::Clock& clock, Engine& engine)
      : control_(control), clock_(clock), engine_(engine), timer_([this] { Start(); }) {}

  void Start() override;
  void Stop() override { timer_.Cancel(); }

 private:
  net::EventLoop& control_;
  const base::Clock& clock_;
  Engine& engine_;
  net::Timer timer_;
};

}  // namespace sluice::app
