#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "sluice/result.h"

#include "base/clock.h"
#include "credentials.h"
#include "daemon_config.h"
#include "envoy/rate_limit_service.h"
#include "frontend/grpc/front_end.h"
#include "frontend/grpc/front_end_settings.h"
#include "frontend/http/front_end.h"
#include "frontend/http/route.h"
#include "frontend/resp/front_end.h"
#include "idempotency/answer_memory.h"
#include "net/event_loop.h"
#include "net/listener.h"
#include "service/limiter_service.h"
#include "signing/keyring.h"
#include "telemetry/registry.h"

namespace sluice::app {

// The front ends of a daemon: for every check listener one per loop, the kernel spreading
// connections over them (SO_REUSEPORT); all others on the control loop alone, so that a
// scrape of a thousand rules delays no check. Lives on the control loop's thread.
class Server {
 public:
  // All of these outlive it. `rate_limits`: Envoy's service, nullptr where there is none.
  Server(net::EventLoop& control, service::LimiterService& service, const signing::Keyring& keys,
         envoy::RateLimitService* rate_limits, telemetry::Registry& registry,
         const frontend::http::Readiness& readiness, const frontend::grpc::Health& health,
         const base::Clock& clock);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // What admin listeners act on; without it they only tell. Before Open(); outlives this.
  void Serve(const frontend::http::AdminContext& context) { context_ = &context; }

  // Where check listeners remember what they answered to an Idempotency-Key. Before Open();
  // outlives this.
  void RememberIn(idempotency::AnswerMemory& memory) { memory_ = &memory; }

  // Binds every address. Errors name the address and the remedy; then nothing is served.
  // `credentials` are those of `config`, and outlive the server.
  [[nodiscard]] Result<void> Open(const DaemonConfig& config, const Credentials& credentials);

  struct OpenAddress {
    Protocol protocol;
    frontend::http::Role role;
    std::string address;  // With the port that was bound.
    bool tls = false;
  };
  [[nodiscard]] const std::vector<OpenAddress>& addresses() const { return addresses_; }
  [[nodiscard]] std::size_t loops() const { return workers_.size(); }

  // Tells whoever watches, on every loop.
  void OnHealthChanged();

  // Every loop that requests come from, before Start().
  template <class Visit>
  void EachLoop(Visit visit) {
    visit(control_);
    for (const auto& worker : workers_) {
      visit(worker->loop);
    }
  }

  // Starts the loops' threads.
  void Start();

  // Accepts no more checks; every connection answers what it was asked and closes.
  void Drain();
  [[nodiscard]] bool drained() const { return check_connections_->open() == 0; }

  // Closes what is left and ends the threads. Idempotent.
  void Stop();

 private:
  struct Worker {
    net::EventLoop loop;
    std::vector<std::unique_ptr<frontend::http::FrontEnd>> front_ends;
    std::vector<std::unique_ptr<frontend::grpc::FrontEnd>> grpc_front_ends;
    std::vector<std::unique_ptr<frontend::resp::FrontEnd>> resp_front_ends;
    std::vector<std::unique_ptr<net::Listener>> listeners;
    std::thread thread;
  };

  // Where one listener listens: at a Unix socket, or else at an address.
  struct Place {
    boost::asio::ip::tcp::endpoint address;
    const net::UnixSocket* socket = nullptr;
  };
  [[nodiscard]] Result<Place> MakePlace(const ListenerConfig& listener);
  // Opens `listener` on `loop`, its connections going to `front end`; an address is bound as it
  // stands in `place` and then holds its port.
  template <class FrontEnd>
  Result<void> OpenOn(net::EventLoop& loop, const ListenerConfig& listener,
                      const std::optional<net::ListenerTls>& tls, Place& place, FrontEnd& front_end,
                      std::vector<std::unique_ptr<net::Listener>>& listeners);
  Result<void> OpenOn(Worker& worker, const ListenerConfig& listener,
                      const ListenerCredentials& credentials,
                      const std::optional<net::ListenerTls>& tls, Place& place);
  // Where the refusals of `listener`, an address, are logged: one for all its loops.
  [[nodiscard]] frontend::AnswerLog& LogOf(const ListenerConfig& listener);
  [[nodiscard]] std::unique_ptr<frontend::http::FrontEnd> MakeFrontEnd(
      net::EventLoop& loop, const ListenerConfig& listener, const ListenerCredentials& credentials);
  [[nodiscard]] frontend::grpc::FrontEndSettings GrpcSettings(
      const ListenerConfig& listener, const ListenerCredentials& credentials);

  net::EventLoop& control_;
  service::LimiterService& service_;
  const signing::Keyring& keys_;
  envoy::RateLimitService* const rate_limits_;
  telemetry::Registry& registry_;
  const frontend::http::Readiness& readiness_;
  const frontend::grpc::Health& health_;
  std::optional<frontend::http::EnvoyContext> envoy_context_;  // Where there is Envoy's service.
  const base::Clock& clock_;
  // Of their own, so that a flood of checks does not lock operators out.
  std::unique_ptr<net::ConnectionLimit> check_connections_;
  std::unique_ptr<net::ConnectionLimit> admin_connections_;
  Duration max_grpc_age_{};
  Duration max_grpc_age_grace_{};
  std::atomic<std::uint64_t> last_resp_client_{0};
  frontend::http::ForwardingNotes forwarding_notes_;
  frontend::AnswerCounts http_answers_{frontend::AnswerCounts::Protocol::kHttp};
  frontend::AnswerCounts grpc_answers_{frontend::AnswerCounts::Protocol::kGrpc};
  frontend::AnswerCounts resp_answers_{frontend::AnswerCounts::Protocol::kResp};
  std::map<std::string, frontend::AnswerLog, std::less<>> answer_logs_;  // By listener.
  std::vector<std::unique_ptr<net::UnixSocket>> sockets_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<frontend::http::FrontEnd>> admin_front_ends_;
  std::vector<std::unique_ptr<net::Listener>> admin_listeners_;
  std::vector<OpenAddress> addresses_;
  const frontend::http::AdminContext* context_ = nullptr;
  idempotency::AnswerMemory* memory_ = nullptr;
  bool stopped_ = false;
};

}  // namespace sluice::app
