#include "server.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/spdlog.h>

#include "base/display_text.h"
#include "base/fault.h"
#include "net/event_loop.h"
#include "version.h"

namespace sluice::app {

namespace {
using frontend::http::Role;

constexpr std::size_t kAdminConnections = 256;
std::size_t ConnectionsPerPeer(const DaemonConfig& config) {
  return config.connections_per_peer == 0 ? std::max<std::size_t>(1, config.connections / 2)
                                          : config.connections_per_peer;
}

// Columns of what a log line says of a refused request: it may quote the client, line feeds and
// all.
constexpr std::size_t kLongestDetail = 300;

tl::unexpected<Error> WithRemedy(const Error& error) {
  return Fault(error.Text() +
               "\n  stop the program that uses the port, or set another address: listeners: "
               "[{address: 127.0.0.1:8081}]");
}
}  // namespace

Result<std::unique_ptr<Server>> Server::Open(net::EventLoop& control, Engine& engine,
                                             control::RuleController& rules,
                                             control::ModeFile& modes,
                                             const Credentials& credentials,
                                             const base::Clock& clock) {
  std::unique_ptr<Server> made(new Server(
      control, engine,
      {.rules = rules, .modes = modes, .service = engine.service, .metrics = engine.metrics},
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
      admin_connections_(kAdminConnections, kAdminConnections / 2) {
  forwarding_notes_.on_first = [](std::string_view peer) {
    spdlog::warn(
        "{} sends client addresses but is not a trusted proxy: they are ignored, and "
        "its own address counts. If it is your proxy, add it to the listener's proxy: {{trusted: "
        "[...]}}",
        peer);
  };
  if (engine_.rate_limits != nullptr) {
    envoy_context_.emplace(
        frontend::http::EnvoyContext{.rate_limits = *engine_.rate_limits, .health = health_});
  }
}

Server::~Server() {
  Stop();
}

frontend::AnswerLog& Server::LogOf(const ListenerConfig& listener) {
  const auto write = [name = listener.address,
                      protocol = listener.protocol](const frontend::AnswerLog::Line& line) {
    const bool is_plain = protocol == Protocol::kHttp &&
                          (line.status == 400 || line.status == 404 || line.status == 405);
    const std::string status = protocol == Protocol::kHttp   ? std::to_string(line.status)
                               : protocol == Protocol::kGrpc ? fmt::format("code {}", line.status)
                                                             : "an error";
    spdlog::log(is_plain ? spdlog::level::info : spdlog::level::warn, "{}: answered {} to {}: {}{}",
                name, status, line.peer.empty() ? "a client" : line.peer,
                base::DisplayText(line.detail, kLongestDetail),
                line.others == 0
                    ? ""
                    : fmt::format(" ({} more like it since the last such line)", line.others));
  };
  return answer_logs_.try_emplace(listener.address, write).first->second;
}

std::unique_ptr<frontend::http::FrontEnd> Server::MakeFrontEnd(
    net::EventLoop& loop, const ListenerConfig& listener, const ListenerCredentials& credentials) {
  frontend::http::FrontEndSettings settings;
  settings.role = listener.role;
  settings.keys = &engine_.keys;
  settings.memory = listener.role == Role::kCheck && engine_.config.idempotency.mebibytes > 0
                        ? &engine_.answers
                        : nullptr;
  settings.context = listener.role == Role::kAdmin ? &admin_ : nullptr;
  settings.metrics_path = listener.metrics_path;
  settings.host_names = {.address = listener.address, .names = listener.hosts};
  settings.answers = &http_answers_.Add(listener.address);
  settings.log = &LogOf(listener);
  settings.envoy = envoy_context_ ? &*envoy_context_ : nullptr;
  settings.token = credentials.token.get();
  settings.proxy = listener.proxy;
  settings.proxy.notes = &forwarding_notes_;
  settings.limit_headers = listener.limit_headers;
  return std::make_unique<frontend::http::FrontEnd>(loop, engine_.service, engine_.registry,
                                                    readiness_, clock_, std::move(settings));
}

frontend::grpc::FrontEndSettings Server::GrpcSettings(const ListenerConfig& listener,
                                                      const ListenerCredentials& credentials) {
  frontend::grpc::FrontEndSettings settings;
  settings.answers = &grpc_answers_.Add(listener.address);
  settings.log = &LogOf(listener);
  settings.token = credentials.token.get();
  settings.keys = &engine_.keys;
  settings.health_service = "ratelimit";
  if (const auto& envoy = engine_.config.envoy) {
    settings.max_age = envoy->max_connection_age;
    settings.max_age_grace = envoy->max_connection_age_grace;
  }
  return settings;
}

Result<void> Server::OpenOn(Worker& worker, const ListenerConfig& listener,
                            const ListenerCredentials& credentials,
                            const std::optional<net::ListenerTls>& tls, Place& place) {
  if (listener.protocol == Protocol::kResp) {
    frontend::resp::FrontEndSettings settings;
    settings.answers = &resp_answers_.Add(listener.address);
    settings.log = &LogOf(listener);
    settings.password = credentials.token.get();
    settings.keys = &engine_.keys;
    settings.version = kVersion;
    settings.clients_have_certificates = listener.tls && !listener.tls->client_ca.empty();
    worker.resp_front_ends.push_back(std::make_unique<frontend::resp::FrontEnd>(
        worker.loop, engine_.service, clock_, last_resp_client_, std::move(settings)));
    return OpenOn(worker.loop, listener, tls, place, *worker.resp_front_ends.back(),
                  worker.listeners);
  }
  if (listener.protocol == Protocol::kGrpc) {
    worker.grpc_front_ends.push_back(std::make_unique<frontend::grpc::FrontEnd>(
        worker.loop, engine_.service, engine_.rate_limits.get(), health_,
        GrpcSettings(listener, credentials)));
    return OpenOn(worker.loop, listener, tls, place, *worker.grpc_front_ends.back(),
                  worker.listeners);
  }
  worker.front_ends.push_back(MakeFrontEnd(worker.loop, listener, credentials));
  return OpenOn(worker.loop, listener, tls, place, *worker.front_ends.back(), worker.listeners);
}

template <class FrontEnd>
Result<void> Server::OpenOn(net::EventLoop& loop, const ListenerConfig& listener,
                            const std::optional<net::ListenerTls>& tls, Place& place,
                            FrontEnd& front_end,
                            std::vector<std::unique_ptr<net::Listener>>& listeners) {
  auto& limit = listener.role == Role::kCheck ? check_connections_ : admin_connections_;
  const auto accept = [&front_end](std::unique_ptr<net::Transport> transport) {
    front_end.Accept(std::move(transport));
  };
  auto opened = place.socket != nullptr
                    ? net::Listener::Open(loop, *place.socket, limit, accept, tls)
                    : net::Listener::Open(loop, place.address, limit, accept, tls);
  if (!opened) {
    return WithRemedy(opened.error());
  }
  place.address = (*opened)->endpoint();
  listeners.push_back(*std::move(opened));
  return {};
}

Result<Server::Place> Server::MakePlace(const ListenerConfig& listener) {
  if (const auto path = UnixPathOf(listener.address)) {
    auto socket = net::UnixSocket::Bind(std::string(*path));
    if (!socket) {
      return WithRemedy(socket.error());
    }
    return Place{.address = {}, .socket = sockets_.emplace_back(*std::move(socket)).get()};
  }
  const auto address = net::ParseAddress(listener.address);
  if (!address) {
    return tl::unexpected(address.error());
  }
  if (auto is_free = net::EnsureFree(*address); !is_free) {
    return WithRemedy(is_free.error());
  }
  return Place{.address = *address};
}

Result<void> Server::OpenAll() {
  const DaemonConfig& config = engine_.config;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t loops = config.loops == 0 ? cores : config.loops;
  for (std::size_t i = 0; i < loops; ++i) {
    workers_.push_back(std::make_unique<Worker>());
  }
  for (std::size_t i = 0; i < config.listeners.size(); ++i) {
    const ListenerConfig& listener = config.listeners[i];
    std::optional<net::ListenerTls> tls;
    if (const auto& contexts = credentials_.Of(i).tls; contexts != nullptr) {
      tls.emplace(net::ListenerTls{*contexts, credentials_.tls_counters()});
    }
    auto place = MakePlace(listener);
    if (!place) {
      return tl::unexpected(place.error());
    }
    if (listener.role != Role::kCheck) {
      admin_front_ends_.push_back(MakeFrontEnd(control_, listener, credentials_.Of(i)));
      if (auto opened =
              OpenOn(control_, listener, tls, *place, *admin_front_ends_.back(), admin_listeners_);
          !opened) {
        return opened;
      }
    } else {
      for (const auto& worker : workers_) {
        if (auto opened = OpenOn(*worker, listener, credentials_.Of(i), tls, *place); !opened) {
          return opened;
        }
      }
    }
    addresses_.push_back(
        {.protocol = listener.protocol,
         .role = listener.role,
         .address = place->socket != nullptr ? listener.address : net::AddressText(place->address),
         .tls = tls.has_value()});
  }
  return {};
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
  for (const auto* answers : {&http_answers_, &grpc_answers_, &resp_answers_}) {
    registry.Add(*answers);
  }
  registry.AddCounter("sluice_untrusted_forwarding_total",
                      "Requests with a client address from an untrusted sender.",
                      [this] { return forwarding_notes_.untrusted.load(); });
}

void Server::Start() {
  for (const auto& worker : workers_) {
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
  // Reads and writes that were cut off still hold their connections, and these their places:
  // told of their end, they let go.
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
