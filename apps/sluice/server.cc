#include "server.h"

#include <algorithm>
#include <utility>

#include <pthread.h>

#include "control/log_event.h"
#include "net/event_loop.h"

namespace sluice::app {

namespace {

constexpr std::size_t kAdminConnections = 256;

std::size_t ConnectionsPerPeer(const DaemonConfig& config) {
  return config.connections_per_peer == 0 ? std::max<std::size_t>(1, config.connections / 2)
                                          : config.connections_per_peer;
}

}  // namespace

Result<std::unique_ptr<Server>> Server::Open(net::EventLoop& control, Engine& engine,
                                             control::RuleController& rules,
                                             control::ModeFile& modes,
                                             records::RecordCollector& decisions,
                                             const Credentials& credentials,
                                             const base::Clock& clock) {
  std::unique_ptr<Server> made(
      new Server(control, engine,
                 {.rules = rules,
                  .modes = modes,
                  .service = engine.service,
                  .metrics = engine.metrics,
                  .insight = engine.insight,
                  .decisions = decisions,
                  .fallback = engine.fallback.get(),
                  .leases = engine.leases.get(),
                  .history = [&engine, &clock]() -> const insight::History& {
                    return engine.RecordHistory(clock);
                  }},
                 credentials, clock));
  if (auto opened = made->OpenAll(); !opened) {
    return tl::unexpected(opened.error());
  }
  made->AddMetrics();
  return made;
}

Server::Server(net::EventLoop& control, Engine& engine, const frontend::http::AdminContext& admin,
               const Credentials& credentials, const base::Clock& clock)
    : control_(control),
      engine_(engine),
      admin_(admin),
      credentials_(credentials),
      clock_(clock),
      check_connections_(engine.config.connections, ConnectionsPerPeer(engine.config)),
      admin_connections_(kAdminConnections, kAdminConnections / 2),
      load_(check_connections_, engine.redis != nullptr ? &engine.redis->metrics() : nullptr) {
  forwarding_notes_.on_first = [](std::string_view peer) {
    control::LogEvent(
        spdlog::level::warn, "proxy_not_trusted",
        std::string(peer) +
            " sends client addresses but is not a trusted proxy: they are ignored, and "
            "its own address counts. If it is your proxy, add it to the listener's "
            "proxy: {trusted: [...]}",
        {{"peer", peer}});
  };
  if (engine_.rate_limits != nullptr) {
    envoy_context_.emplace(
        frontend::http::EnvoyContext{.rate_limits = *engine_.rate_limits, .health = health_});
  }
}

Server::~Server() {
  Stop();
}

void Server::AddMetrics() {
  telemetry::Registry& registry = engine_.registry;
  registry.AddGauge("sluice_connections_open", "Open connections on check listeners.",
                    [this] { return static_cast<double>(check_connections_.open()); });
  registry.AddCounter("sluice_connections_refused_total",
                      "Connections refused because too many were open.",
                      [this] { return check_connections_.refused(); });
  registry.AddCounter("sluice_peer_connections_refused_total",
                      "Connections refused because too many from one address were open.",
                      [this] { return check_connections_.refused_of_peers(); });
  registry.Add(load_);
  for (const auto* answers : {&http_answers_, &grpc_answers_, &resp_answers_}) {
    registry.Add(*answers);
  }
  registry.AddCounter("sluice_untrusted_forwarding_total",
                      "Requests with a client address from an untrusted sender.",
                      [this] { return forwarding_notes_.untrusted.load(); });
}

std::size_t Server::Worker::InFlight() const {
  std::size_t sum = 0;
  const auto add = [&sum](const auto& all) {
    for (const auto& front_end : all) {
      sum += front_end->exchanges_in_use();
    }
  };
  add(front_ends);
  add(grpc_front_ends);
  add(resp_front_ends);
  return sum;
}

void Server::Start() {
  for (const auto& worker : workers_) {
    worker->watch.emplace(worker->loop, load_,
                          [worker = worker.get()] { return worker->InFlight(); });
    worker->watch->Start();
    worker->thread = std::thread([loop = &worker->loop] {
      ::pthread_setname_np(::pthread_self(), "sluice-loop");
      loop->Run();
    });
  }
  readiness_.Set(true);
  UpdateHealth();
}

void Server::UpdateHealth() {
  bool healthy = readiness_.ready();
  if (const auto& envoy = engine_.config.envoy; envoy && envoy->healthy_with_a_configuration) {
    const auto configuration = engine_.rate_limits->configuration();
    healthy = healthy && configuration != nullptr && configuration->domain_count() > 0;
  }
  if (!health_.Set(healthy)) {
    return;
  }
  for (const auto& worker : workers_) {  // For those who watch.
    worker->loop.Post([worker = worker.get()] {
      for (const auto& front_end : worker->grpc_front_ends) {
        front_end->OnHealthChanged();
      }
    });
  }
}

void Server::Drain() {
  readiness_.Set(false);
  UpdateHealth();
  sockets_.clear();
  for (const auto& worker : workers_) {
    worker->loop.Post([worker = worker.get()] {
      for (const auto& listener : worker->listeners) {
        listener->Close();
      }
      for (const auto& front_end : worker->front_ends) {
        front_end->Drain();
      }
      for (const auto& front_end : worker->grpc_front_ends) {
        front_end->Drain();
      }
      for (const auto& front_end : worker->resp_front_ends) {
        front_end->Drain();
      }
    });
  }
}

void Server::Stop() {
  if (std::exchange(stopped_, true)) {
    return;
  }
  sockets_.clear();
  for (const auto& worker : workers_) {
    if (!worker->thread.joinable()) {
      continue;
    }
    worker->loop.Post([worker = worker.get()] {
      for (const auto& listener : worker->listeners) {
        listener->Close();
      }
      for (const auto& front_end : worker->front_ends) {
        front_end->CloseAll();
      }
      for (const auto& front_end : worker->grpc_front_ends) {
        front_end->CloseAll();
      }
      for (const auto& front_end : worker->resp_front_ends) {
        front_end->CloseAll();
      }
      worker->loop.Stop();
    });
  }
  // Reads and writes that were cut off still hold their connections, and these their places: on
  // shutdown they release them.
  for (const auto& worker : workers_) {
    if (worker->thread.joinable()) {
      worker->thread.join();
      (void)worker->loop.Poll();
    }
  }
  for (const auto& listener : admin_listeners_) {
    listener->Close();
  }
  for (const auto& front_end : admin_front_ends_) {
    front_end->CloseAll();
  }
  (void)control_.Poll();
}

}  // namespace sluice::app
