#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/display_text.h"
#include "base/fault.h"
#include "control/log_event.h"
#include "net/event_loop.h"
#include "server.h"
#include "version.h"

// Server: its listeners, and the front ends behind them.
namespace sluice::app {

namespace {

using frontend::http::Role;

// Columns of what a log line says of a refused request: it may quote the client, line feeds and
// all.
constexpr std::size_t kLongestDetail = 300;

tl::unexpected<Error> WithRemedy(const Error& error) {
  return Fault(error.Text() +
               "\n  stop the program that uses the port, or set another address: listeners: "
               "[{address: 127.0.0.1:8081}]");
}

}  // namespace

frontend::AnswerLog& Server::LogOf(const ListenerConfig& listener) {
  const auto write = [name = listener.address,
                      protocol = listener.protocol](const frontend::AnswerLog::Line& line) {
    const bool is_plain = protocol == Protocol::kHttp &&
                          (line.status == 400 || line.status == 404 || line.status == 405);
    const std::string status = protocol == Protocol::kHttp   ? std::to_string(line.status)
                               : protocol == Protocol::kGrpc ? fmt::format("code {}", line.status)
                                                             : "an error";
    const std::string detail = base::DisplayText(line.detail, kLongestDetail);
    control::LogEvent(
        is_plain ? spdlog::level::info : spdlog::level::warn, "request_refused",
        fmt::format("{}: answered {} to {}: {}{}", name, status,
                    line.peer.empty() ? "a client" : line.peer, detail,
                    line.others == 0
                        ? ""
                        : fmt::format(" ({} more like it since the last such line)", line.others)),
        {{"listener", name},
         {"status", static_cast<std::uint64_t>(line.status)},
         {"peer", line.peer},
         {"reason", detail},
         {"others", line.others}});
  };
  return answer_logs_.try_emplace(listener.address, write).first->second;
}

std::unique_ptr<frontend::http::FrontEnd> Server::MakeFrontEnd(
    net::EventLoop& loop, const ListenerConfig& listener, const ListenerCredentials& credentials) {
  frontend::http::FrontEndSettings settings;
  settings.role = listener.role;
  settings.name = listener.address;
  settings.keys = &engine_.keys;
  settings.memory = listener.role == Role::kCheck && engine_.config.idempotency.mebibytes > 0
                        ? &engine_.answers
                        : nullptr;
  settings.context = listener.role == Role::kAdmin ? &admin_ : nullptr;
  settings.console = listener.console;
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
  settings.name = listener.address;
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
    settings.name = listener.address;
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
         .tls = tls.has_value(),
         .console = listener.console});
  }
  return {};
}

}  // namespace sluice::app
