#include "daemon.h"

#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "command_line.h"
#include "control/envoy_config_loader.h"
#include "control/log_event.h"
#include "control/mode_file.h"
#include "control/rule_controller.h"
#include "credentials.h"
#include "daemon_files.h"
#include "decision_records.h"
#include "denial_summary.h"
#include "engine.h"
#include "greeting.h"
#include "insight/insight.h"
#include "insight/key_text.h"
#include "insight_schedule.h"
#include "lifecycle.h"
#include "log.h"
#include "net/event_loop.h"
#include "net/process_events.h"
#include "otlp_export.h"
#include "rule_files.h"
#include "server.h"
#include "snapshot_schedule.h"

namespace sluice::app {

namespace {

std::string ModesFile(const DaemonConfig& config) {
  const std::string folder = ApiFolder(config);
  return folder.empty() ? "" : folder + "/modes.json";
}

Result<std::unique_ptr<control::RuleController>> LoadRules(net::EventLoop& loop, Engine& engine,
                                                           control::ModeFile& modes,
                                                           const DaemonSignals& signals) {
  auto sources = RuleSourcesOf(engine.config);
  if (!sources) {
    return tl::unexpected(sources.error());
  }
  return control::RuleController::Create(loop, engine.service, engine.metrics, modes,
                                         *std::move(sources),
                                         [&signals] { return signals.stop_signal() != 0; });
}

// What can fail to be made, in the order in which it is made. Each uses those before it.
struct Parts {
  std::unique_ptr<const DaemonConfig> config;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<DecisionRecords> records;
  std::unique_ptr<control::ModeFile> modes;
  std::unique_ptr<control::RuleController> rules;
  std::unique_ptr<Credentials> credentials;
  std::unique_ptr<Server> server;
  std::unique_ptr<control::EnvoyConfigLoader> envoy;  // nullptr where it is not configured.
};

// Announces that the daemon serves, and to systemd also that it stops.
class Announcement final : public Component {
 public:
  explicit Announcement(const Parts& parts) : parts_(parts) {}

  void Start() override {
    Engine& engine = *parts_.engine;
    const auto rules = engine.service.Rules();
    Greet(*parts_.server, {.store = engine.Describe(),
                           .snapshot = engine.table.snapshot,
                           .api_folder = ApiFolder(engine.config),
                           .rules = *rules,
                           .modes = parts_.modes->modes(),
                           .envoy = engine.DescribeEnvoy()});
    (void)systemd_.Ready();
    const std::size_t active = rules->rules().size();
    const std::size_t threads = parts_.server->loops();
    control::LogEvent(spdlog::level::info, "serving",
                      fmt::format("serving with {} rule{} on {} thread{}", active,
                                  active == 1 ? "" : "s", threads, threads == 1 ? "" : "s"),
                      {{"rules", active}, {"threads", threads}});
  }
  void Drain() override { (void)systemd_.Stopping(); }

  // Frame a reload.
  void BeginReload() const { (void)systemd_.Reloading(); }
  void EndReload() const { (void)systemd_.Ready(); }

 private:
  const Parts& parts_;
  const net::SystemdNotify systemd_ = net::SystemdNotify::FromEnvironment();
};

// A whole daemon, which has not started. The control loop runs on main's thread: signals, rule
// files, the admin front ends.
class Daemon {
 public:
  Daemon(net::EventLoop& control, DaemonSignals& signals, const base::Clock& clock, Parts parts)
      : control_(control),
        signals_(signals),
        parts_(std::move(parts)),
        otlp_(control, *parts_.engine, clock),
        snapshots_(*parts_.engine->table.store, parts_.engine->table.snapshot,
                   parts_.config->table.snapshot_interval),
        fleet_(*parts_.engine, *parts_.server),
        history_(control, clock, *parts_.engine),
        insight_(control, parts_.engine->insight, parts_.engine->service, parts_.config->hot_keys),
        denials_(
            control, parts_.config->denial_summary,
            [this](const DenialSummary::TakeCounts& take) { ReadDenials(take); },
            [this](std::string_view rule) { return MostDenied(rule); }),
        announcement_(parts_),
        lifecycle_(control, {&otlp_, &snapshots_, parts_.records.get(), &fleet_, &history_,
                             &insight_, &denials_, parts_.server.get(), &announcement_}) {
    snapshots_.AddMetrics(parts_.engine->registry);
    parts_.engine->registry.Add(insight_);
    parts_.records->AddMetrics(parts_.engine->registry);
  }

  // Serves until a signal asks for the end and all is drained.
  void Run();

 private:
  void ReadDenials(const DenialSummary::TakeCounts& take) const;
  [[nodiscard]] std::optional<DenialSummary::TopKey> MostDenied(std::string_view rule) const;
  void Reload();
  void BeginStop(int signal);

  net::EventLoop& control_;
  DaemonSignals& signals_;
  const Parts parts_;
  OtlpExport otlp_;
  SnapshotSchedule snapshots_;
  FleetConnections fleet_;
  HistoryRecorder history_;
  InsightSchedule insight_;
  DenialSummary denials_;
  Announcement announcement_;
  Lifecycle lifecycle_;
  bool stopping_ = false;
};

// Errors: whatever keeps it from serving; also that a signal asked for the end meanwhile.
Result<Parts> Build(DaemonConfig config, net::EventLoop& control, const DaemonSignals& signals,
                    const base::Clock& clock) {
  Parts parts{.config = std::make_unique<const DaemonConfig>(std::move(config))};
  const DaemonConfig& settings = *parts.config;
  Error error;
  // Puts what was made in its place, or notes why it was not.
  const auto made = [&error](auto result, auto& part) {
    if (!result) {
      error = std::move(result.error());
      return false;
    }
    part = *std::move(result);
    return true;
  };
  if (!made(Engine::Open(settings, clock), parts.engine)) {
    return tl::unexpected(error);
  }
  Engine& engine = *parts.engine;
  const bool complete =
      made(DecisionRecords::Open(settings, engine.insight.records(), clock), parts.records) &&
      made(control::ModeFile::Create(control, engine.service, ModesFile(settings)), parts.modes) &&
      made(LoadRules(control, engine, *parts.modes, signals), parts.rules) &&
      made(Credentials::Load(control, settings), parts.credentials) &&
      made(Server::Open(control, engine, *parts.rules, *parts.modes, parts.records->collector(),
                        *parts.credentials, clock),
           parts.server) &&
      (!settings.envoy || made(control::EnvoyConfigLoader::Create(
                                   control, *engine.rate_limits, settings.envoy->files,
                                   [server = parts.server.get()] { server->UpdateHealth(); }),
                               parts.envoy));
  if (!complete) {
    return tl::unexpected(error);
  }
  engine.registry.Add(*parts.modes);
  engine.registry.Add(*parts.credentials);
  if (const telemetry::Source* const etcd = parts.rules->etcd_metrics()) {
    engine.registry.Add(*etcd);
  }
  return parts;
}

void Daemon::Run() {
  lifecycle_.Start();
  signals_.Attach(
      {.reload = [this] { Reload(); }, .stop = [this](int signal) { BeginStop(signal); }});
  control_.Run();
  signals_.Detach();
  lifecycle_.Stop();
}

std::optional<DenialSummary::TopKey> Daemon::MostDenied(std::string_view rule) const {
  const insight::Insight::TopReading reading = parts_.engine->insight.Top(
      {.rule = rule, .kind = static_cast<std::size_t>(insight::Kind::kDenied), .most = 1});
  if (reading.rules.empty() || reading.rules.front().keys.empty()) {
    return std::nullopt;
  }
  const insight::RuleTop& top = reading.rules.front();
  const auto total =
      static_cast<double>(top.totals[static_cast<std::size_t>(insight::Kind::kDenied)]);
  const insight::HeavyKey& key = top.keys.front().counted;
  return DenialSummary::TopKey{.key = insight::TextOf(insight::PartsOf(key.key)),
                               .share = static_cast<double>(key.count) / total};
}

void Daemon::ReadDenials(const DenialSummary::TakeCounts& take) const {
  using service::Outcome;
  const service::ServiceMetrics& metrics = parts_.engine->metrics;
  const auto take_rule = [&](std::string_view rule) {
    take(rule, {.allowed = metrics.Count(rule, Outcome::kAllowed) +
                           metrics.Count(rule, Outcome::kDegradedAllowed),
                .denied = metrics.Count(rule, Outcome::kDenied) +
                          metrics.Count(rule, Outcome::kDegradedDenied)});
  };
  const auto rules = parts_.engine->service.Rules();
  for (const rules::Rule& rule : rules->rules()) {
    take_rule(rule.id);
  }
  take_rule(service::kThrottleRule);
}

void Daemon::Reload() {
  if (stopping_) {
    // systemd hears nothing: READY=1 would mean that the service is no longer stopping.
    control::LogEvent(spdlog::level::info, "reload_ignored",
                      "SIGHUP: nothing is reloaded, the daemon is stopping", {{"cause", "SIGHUP"}});
    return;
  }
  announcement_.BeginReload();
  parts_.records->Reopen();
  parts_.credentials->ReloadOnDemand();
  parts_.rules->ReloadOnDemand();
  if (const auto loaded = parts_.modes->Load(); !loaded) {
    const std::string why = loaded.error().Text();
    control::LogEvent(spdlog::level::err, "modes_unreadable",
                      "SIGHUP: the modes cannot be read and stay unchanged: " + why,
                      {{"cause", "SIGHUP"}, {"reason", why}});
  }
  if (parts_.envoy != nullptr) {
    parts_.envoy->ReloadOnDemand();
  }
  announcement_.EndReload();
}

void Daemon::BeginStop(int signal) {
  if (stopping_) {
    control::LogEvent(spdlog::level::warn, "stopping_at_once",
                      fmt::format("signal {} again: exiting without waiting", signal),
                      {{"signal", static_cast<std::uint64_t>(signal)}});
    control_.Stop();
    return;
  }
  stopping_ = true;
  control::LogEvent(spdlog::level::info, "draining", fmt::format("signal {}: draining", signal),
                    {{"signal", static_cast<std::uint64_t>(signal)}});
  lifecycle_.Drain(parts_.config->drain_timeout);
}

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
  if (auto parts = Build(std::move(config), control, signals, clock); parts) {
    Daemon(control, signals, clock, *std::move(parts)).Run();
  } else if (signals.stop_signal() != 0) {
    control::LogEvent(spdlog::level::info, "stopping",
                      fmt::format("signal {} during the start: stopping", signals.stop_signal()),
                      {{"signal", static_cast<std::uint64_t>(signals.stop_signal())}});
  } else {
    exit_code = Refuse(parts.error().Text());
  }
  StopLog();
  return exit_code;
}

}  // namespace sluice::app
