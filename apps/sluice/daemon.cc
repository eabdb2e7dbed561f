#include "daemon.h"

#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/clock.h"
#include "base/fault.h"
#include "control/envoy_config_loader.h"
#include "control/mode_file.h"
#include "control/rule_controller.h"
#include "credentials.h"
#include "daemon_signals.h"
#include "drain.h"
#include "envoy/rate_limit_metrics.h"
#include "envoy/rate_limit_service.h"
#include "exit_code.h"
#include "frontend/grpc/front_end_settings.h"
#include "frontend/http/route.h"
#include "greeting.h"
#include "idempotency/answer_memory.h"
#include "lease/lease_store.h"
#include "log.h"
#include "net/event_loop.h"
#include "net/systemd_notify.h"
#include "open_redis.h"
#include "open_table.h"
#include "rule_files.h"
#include "server.h"
#include "service/fallback.h"
#include "service/limiter_service.h"
#include "service/service_metrics.h"
#include "signing/keyring.h"
#include "signing/secret.h"
#include "snapshot_schedule.h"
#include "state_folder.h"
#include "telemetry/registry.h"

namespace sluice::app {

namespace {

std::string ModesFile(const DaemonConfig& config) {
  const std::string folder = ApiFolder(config);
  return folder.empty() ? "" : folder + "/modes.json";
}

// Everything that a daemon is made of, in the order in which it is built; torn down in the
// other. The control loop runs on main's thread: signals, rule files, the admin front ends.
class Daemon {
 public:
  Daemon(net::EventLoop& control, DaemonSignals& signals, DaemonConfig config, OpenedTable table,
         const base::Clock& clock)
      : control_(control),
        signals_(signals),
        config_(std::move(config)),
        clock_(clock),
        table_(std::move(table)),
        snapshots_(*table_.store, table_.snapshot, config_.table.snapshot_interval),
        keys_(signing::Derive(table_.store->secret(), "sluice tokens of a table"), clock),
        redis_(MakeRedis()),
        leases_(config_.redis ? std::make_unique<lease::LeaseStore>(
                                    *redis_, *table_.store, redis_->nodes(), clock,
                                    lease::LeaseSettings{.keys = config_.redis->lease_keys})
                              : nullptr),
        fallback_(redis_ ? std::make_unique<service::Fallback>(*table_.store, redis_->nodes())
                         : nullptr),
        service_(KeyStore(), metrics_, fallback_.get()),
        rate_limits_(MakeRateLimits()),
        answers_({.bytes = config_.idempotency.mebibytes << 20U,
                  .keep = config_.idempotency.keep,
                  .caller_attribute = config_.idempotency.caller,
                  .shared = redis_.get()}),
        server_(control_, service_, keys_, rate_limits_.get(), registry_, readiness_, health_,
                clock_),
        drain_(control_, server_, leases_.get()) {
    registry_.Add(metrics_);
    table_.AddMetrics(registry_);
    snapshots_.AddMetrics(registry_);
    if (redis_) {
      registry_.Add(redis_->metrics());
      registry_.Add(leases_->metrics());
      registry_.AddGauge("sluice_redis_nodes", "Nodes that share this Redis, by the last count.",
                         [this] { return static_cast<double>(redis_->nodes().load()); });
    }
    if (rate_limits_ != nullptr) {
      registry_.Add(rate_limit_metrics_);
    }
    registry_.Add(answers_);
  }

  // Whatever keeps it from serving, for stderr.
  Result<void> Start() {
    auto modes = control::ModeFile::Create(control_, service_, ModesFile(config_));
    if (!modes) {
      return tl::unexpected(modes.error());
    }
    modes_ = *std::move(modes);
    registry_.Add(*modes_);
    auto sources = RuleSourcesOf(config_);
    if (!sources) {
      return tl::unexpected(sources.error());
    }
    auto rules =
        control::RuleController::Create(control_, service_, metrics_, *modes_, *std::move(sources),
                                        [this] { return signals_.stop_signal() != 0; });
    if (!rules) {
      return tl::unexpected(rules.error());
    }
    rules_ = *std::move(rules);
    if (const telemetry::Source* const etcd = rules_->etcd_metrics()) {
      registry_.Add(*etcd);
    }
    if (signals_.stop_signal() != 0) {
      return Fault("a signal asked for its end");
    }
    context_.emplace(frontend::http::AdminContext{
        .rules = *rules_, .modes = *modes_, .service = service_, .metrics = metrics_});
    server_.Serve(*context_);
    if (config_.envoy) {
      auto loader = control::EnvoyConfigLoader::Create(
          control_, *rate_limits_, config_.envoy->files, [this] { SetHealth(); });
      if (!loader) {
        return tl::unexpected(loader.error());
      }
      envoy_ = *std::move(loader);
    }
    if (config_.idempotency.mebibytes > 0) {
      server_.RememberIn(answers_);
    }
    auto credentials = Credentials::Load(control_, config_);
    if (!credentials) {
      return tl::unexpected(credentials.error());
    }
    credentials_ = *std::move(credentials);
    registry_.Add(*credentials_);
    if (auto opened = server_.Open(config_, *credentials_); !opened) {
      return opened;
    }
    if (redis_) {
      server_.EachLoop([this](net::EventLoop& loop) {
        redis_loops_.push_back(redis_->Attach(loop));
        drain_.Add(leases_->Attach(&loop));
      });
    }
    server_.Start();
    snapshots_.Start();
    readiness_.Set(true);
    SetHealth();
    const auto in_force = service_.Rules();
    Greet(server_, {.store = config_.redis ? Describe(*config_.redis) +
                                                 "; while it is unreachable: " + table_.description
                                           : table_.description,
                    .snapshot = table_.snapshot,
                    .api_folder = ApiFolder(config_),
                    .rules = *in_force,
                    .modes = modes_->modes(),
                    .envoy = EnvoyText()});
    (void)systemd_.Ready();
    const std::size_t active = in_force->rules().size();
    const std::size_t threads = server_.loops();
    spdlog::info("serving with {} rule{} on {} thread{}", active, active == 1 ? "" : "s", threads,
                 threads == 1 ? "" : "s");
    signals_.Attach(
        {.reload = [this] { Reload(); }, .stop = [this](int signal) { BeginStop(signal); }});
    return {};
  }

  void Run() {
    control_.Run();
    signals_.Detach();
    server_.Stop();
    snapshots_.Stop();  // The last one has everything that was answered.
  }

 private:
  // What decides: the table, or leases of what is in Redis.
  [[nodiscard]] store::KeyStore& KeyStore() {
    return leases_ ? static_cast<store::KeyStore&>(*leases_) : *table_.store;
  }

  // Nodes that share a Redis for their own keys also share a secret that is kept there. A Redis of
  // Envoy's counters alone gets nothing but these.
  [[nodiscard]] std::unique_ptr<redis::RedisStore> MakeRedis() {
    if (!config_.redis) {
      return nullptr;
    }
    std::function<void(std::string_view)> on_secret;
    if (!config_.redis->is_shared) {
      keys_.AwaitShared();
      on_secret = [this](std::string_view secret) {
        keys_.SetShared(signing::Derive(secret, "sluice tokens of a fleet"));
      };
    }
    return MakeRedisStore(*config_.redis, config_.redis_seconds ? &*config_.redis_seconds : nullptr,
                          clock_, std::move(on_secret));
  }

  [[nodiscard]] std::unique_ptr<envoy::RateLimitService> MakeRateLimits() {
    if (!config_.envoy) {
      return nullptr;
    }
    envoy::Settings settings = config_.envoy->settings;
    settings.old_counter_names = redis_ != nullptr && settings.compatible;
    return std::make_unique<envoy::RateLimitService>(KeyStore(), clock_, rate_limit_metrics_,
                                                     std::move(settings), fallback_.get());
  }

  // Envoy's limits in force, for a person; "" without that service.
  [[nodiscard]] std::string EnvoyText() const {
    if (!config_.envoy) {
      return "";
    }
    const auto configuration = rate_limits_->configuration();
    const std::string& directory = config_.envoy->files.directory;
    if (configuration == nullptr) {
      return "none that loads in " + directory + ": calls fail until there is one";
    }
    const std::size_t limits = configuration->limits().size();
    const std::size_t domains = configuration->domain_count();
    return fmt::format("{} limit{} in {} domain{} from {}", limits, limits == 1 ? "" : "s", domains,
                       domains == 1 ? "" : "s", directory);
  }

  void SetHealth() {
    bool healthy = readiness_.ready();
    if (config_.envoy && config_.envoy->healthy_with_a_configuration) {
      const auto configuration = rate_limits_->configuration();
      healthy = healthy && configuration != nullptr && configuration->domain_count() > 0;
    }
    if (health_.Set(healthy)) {
      server_.OnHealthChanged();
    }
  }

  void Reload() {
    if (stopping_) {
      // systemd hears nothing: READY=1 would mean that the service is no longer stopping.
      spdlog::info("SIGHUP: nothing is reloaded, the daemon is stopping");
      return;
    }
    (void)systemd_.Reloading();
    credentials_->ReloadOnDemand();
    rules_->ReloadOnDemand();
    if (const auto loaded = modes_->Load(); !loaded) {
      spdlog::error("SIGHUP: the modes cannot be read and stay unchanged: {}",
                    loaded.error().Text());
    }
    if (envoy_ != nullptr) {
      envoy_->ReloadOnDemand();
    }
    (void)systemd_.Ready();
  }

  void BeginStop(int signal) {
    if (stopping_) {
      spdlog::warn("signal {} again: exiting without waiting", signal);
      control_.Stop();
      return;
    }
    stopping_ = true;
    readiness_.Set(false);
    SetHealth();
    (void)systemd_.Stopping();
    spdlog::info("signal {}: draining", signal);
    drain_.Begin(config_.drain_timeout);
  }

  net::EventLoop& control_;
  DaemonSignals& signals_;
  const net::SystemdNotify systemd_ = net::SystemdNotify::FromEnvironment();
  const DaemonConfig config_;
  const base::Clock& clock_;
  telemetry::Registry registry_;
  service::ServiceMetrics metrics_;
  envoy::RateLimitMetrics rate_limit_metrics_;
  frontend::http::Readiness readiness_;
  frontend::grpc::Health health_;
  OpenedTable table_;
  SnapshotSchedule snapshots_;
  signing::Keyring keys_;
  std::unique_ptr<redis::RedisStore> redis_;   // nullptr: the table is the store.
  std::unique_ptr<lease::LeaseStore> leases_;  // Over redis_, if that is there.
  std::unique_ptr<service::Fallback> fallback_;
  service::LimiterService service_;
  std::unique_ptr<control::ModeFile> modes_;
  std::unique_ptr<envoy::RateLimitService> rate_limits_;
  std::unique_ptr<control::RuleController> rules_;
  std::optional<frontend::http::AdminContext> context_;
  std::unique_ptr<control::EnvoyConfigLoader> envoy_;
  std::unique_ptr<Credentials> credentials_;
  idempotency::AnswerMemory answers_;
  Server server_;
  Drain drain_;
  // Redis's answers go through leases, which drain_ has: the latter stay for longer.
  std::vector<std::unique_ptr<redis::RedisStore::Attachment>> redis_loops_;
  bool stopping_ = false;
};

int Refuse(const std::string& why) {
  std::fprintf(stderr, "sluice: cannot start: %s\n", why.c_str());
  return kExitError;
}

}  // namespace

int RunDaemon(DaemonConfig config, net::EventLoop& control, DaemonSignals& signals) {
  std::signal(SIGPIPE, SIG_IGN);  // A client that left is an error of its write.
  StartLog(config.log_level, config.log_format);
  int exit_code = kExitOk;
  const base::SystemClock clock;
  if (auto table = OpenTable(config, clock); !table) {
    exit_code = Refuse(table.error().Text());
  } else {
    Daemon daemon(control, signals, std::move(config), *std::move(table), clock);
    if (auto started = daemon.Start(); !started && signals.stop_signal() != 0) {
      spdlog::info("signal {} during the start: stopping", signals.stop_signal());
    } else if (!started) {
      exit_code = Refuse(started.error().Text());
    } else {
      daemon.Run();
    }
  }
  StopLog();
  return exit_code;
}

}  // namespace sluice::app
