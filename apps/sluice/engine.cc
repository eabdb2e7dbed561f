#include "engine.h"

#include <chrono>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "net/event_loop.h"
#include "server.h"
#include "signing/mac.h"

namespace sluice::app {

namespace {

// Nodes that share a Redis for their own keys also share a secret that is kept there. A Redis of
// Envoy's counters alone gets nothing but these.
std::unique_ptr<redis::RedisStore> MakeRedis(const DaemonConfig& config, const base::Clock& clock,
                                             signing::Keyring& keys) {
  if (!config.redis) {
    return nullptr;
  }
  std::function<void(std::string_view)> on_secret;
  if (!config.redis->is_shared) {
    keys.AwaitShared();
    on_secret = [&keys](std::string_view secret) {
      keys.SetShared(signing::Derive(secret, "sluice tokens of a fleet"));
    };
  }
  return MakeRedisStore(*config.redis, config.redis_seconds ? &*config.redis_seconds : nullptr,
                        clock, std::move(on_secret));
}

std::unique_ptr<lease::LeaseStore> MakeLeases(const DaemonConfig& config, redis::RedisStore* redis,
                                              store::Table& table, const base::Clock& clock) {
  return redis == nullptr ? nullptr
                          : std::make_unique<lease::LeaseStore>(
                                *redis, table, redis->nodes(), clock,
                                lease::LeaseSettings{.keys = config.redis->lease_keys});
}

std::unique_ptr<envoy::RateLimitService> MakeRateLimits(Engine& engine, const base::Clock& clock) {
  if (!engine.config.envoy) {
    return nullptr;
  }
  envoy::Settings settings = engine.config.envoy->settings;
  settings.old_counter_names = engine.redis != nullptr && settings.compatible;
  return std::make_unique<envoy::RateLimitService>(engine.store(), clock, engine.rate_limit_metrics,
                                                   std::move(settings), engine.fallback.get(),
                                                   &engine.insight);
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::Open(const DaemonConfig& config, const base::Clock& clock) {
  auto opened = OpenTable(config, clock);
  if (!opened) {
    return tl::unexpected(opened.error());
  }
  return std::make_unique<Engine>(config, *std::move(opened), clock);
}

Engine::Engine(const DaemonConfig& settings, OpenedTable opened, const base::Clock& clock)
    : config(settings),
      spans(config.otlp && config.otlp->traces ? std::make_unique<telemetry::SpanQueue>()
                                               : nullptr),
      insight(clock),
      table(std::move(opened)),
      keys(signing::Derive(table.store->secret(), "sluice tokens of a table"), clock),
      redis(MakeRedis(config, clock, keys)),
      leases(MakeLeases(config, redis.get(), *table.store, clock)),
      fallback(redis ? std::make_unique<service::Fallback>(*table.store, redis->nodes()) : nullptr),
      service(store(), metrics, fallback.get(), &insight),
      rate_limits(MakeRateLimits(*this, clock)),
      answers({.bytes = config.idempotency.mebibytes << 20U,
               .keep = config.idempotency.keep,
               .caller_attribute = config.idempotency.caller,
               .shared = redis.get()}) {
  insight.SetSpans(spans.get());
  registry.Add(process);
  registry.Add(metrics);
  table.AddMetrics(registry);
  if (redis) {
    registry.Add(redis->metrics());
    registry.Add(leases->metrics());
    registry.AddGauge("sluice_redis_nodes", "Nodes that share this Redis, by the last count.",
                      [this] { return static_cast<double>(redis->nodes().load()); });
  }
  if (rate_limits) {
    registry.Add(rate_limit_metrics);
  }
  registry.Add(answers);
  registry.AddCounter("sluice_insight_lost_total",
                      "Requests that `sluice top` misses because too many threads recorded, or one "
                      "recorded too much at once.",
                      [this] { return insight.lost(); });
}

const insight::History& Engine::RecordHistory(const base::Clock& clock) {
  history.Observe(clock.Read(), telemetry::Samples(registry.Text(), &insight::History::Keeps));
  return history;
}

std::string Engine::Describe() const {
  return config.redis
             ? app::Describe(*config.redis) + "; while it is unreachable: " + table.description
             : table.description;
}

std::string Engine::DescribeEnvoy() const {
  if (!config.envoy) {
    return "";
  }
  const auto configuration = rate_limits->configuration();
  const std::string& directory = config.envoy->files.directory;
  if (configuration == nullptr) {
    return "none that loads in " + directory + ": calls fail until there is one";
  }
  const std::size_t limits = configuration->limits().size();
  const std::size_t domains = configuration->domain_count();
  return fmt::format("{} limit{} in {} domain{} from {}", limits, limits == 1 ? "" : "s", domains,
                     domains == 1 ? "" : "s", directory);
}

void FleetConnections::Start() {
  if (engine_.redis == nullptr) {
    return;
  }
  server_.EachLoop([this](net::EventLoop& loop) {
    redis_.push_back(engine_.redis->Attach(loop));
    leases_.push_back(engine_.leases->Attach(&loop));
  });
}

void FleetConnections::Drain() {
  constexpr auto kLongest = std::chrono::milliseconds(500);
  until_ = std::chrono::steady_clock::now() + kLongest;
  for (const auto& loop : leases_) {
    loop->Drain();
  }
}

bool FleetConnections::drained() {
  return leases_.empty() || engine_.leases->idle() || std::chrono::steady_clock::now() >= until_;
}

void HistoryRecorder::Start() {
  (void)engine_.RecordHistory(clock_);
  control_.ArmAfter(timer_, insight::History::kTick);
}

}  // namespace sluice::app
