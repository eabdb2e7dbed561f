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
#include "control/mode_file.h"
#include "control/rule_controller.h"
#include "credentials.h"
#include "daemon_config.h"
#include "engine.h"
#include "frontend/grpc/front_end.h"
#include "frontend/grpc/front_end_settings.h"
#include "frontend/http/front_end.h"
#include "frontend/http/route.h"
#include "frontend/resp/front_end.h"
#include "lifecycle.h"
#include "load_metrics.h"
#include "net/event_loop.h"
#include "net/listener.h"

namespace sluice::app {

// The front ends of a daemon: for every check listener one per loop, the kernel spreading
// connections over them (SO_REUSEPORT); all others on the control loop alone, so that a
// scrape of a thousand rules delays no check. Lives on the control loop's thread.
class Server final : public Component {
 public:
  // Binds every address of the engine's configuration; connections wait until Start(). All outlive
  // it; `credentials` are those of that configuration. Errors name the address and the remedy.
  [[nodiscard]] static Result<std::unique_ptr<Server>> Open(net::EventLoop& control, Engine& engine,
                                                            control::RuleController& rules,
                                                            control::ModeFile& modes,
                                                            records::RecordCollector& decisions,
                                                            const Credentials& credentials,
                                                            const base::Clock& clock);
  ~Server() override;

  struct OpenAddress {
    Protocol protocol;
    frontend::http::Role role;
    std::string address;  // With the port that was bound.
    bool tls = false;
    bool console = false;  // It serves the console.
  };
  [[nodiscard]] const std::vector<OpenAddress>& addresses() const { return addresses_; }
  [[nodiscard]] std::size_t loops() const { return workers_.size(); }

  // Every loop that requests come from, before Start().
  template <class Visit>
  void EachLoop(Visit visit) {
    visit(control_);
    for (const auto& worker : workers_) {
      visit(worker->loop);
    }
  }

  // Starts the loops' threads, and is ready.
  void Start() override;
  // Is no longer ready, accepts no more checks; every connection answers what it was asked and
  // closes.
  void Drain() override;
  [[nodiscard]] bool drained() override { return check_connections_.open() == 0; }
  // Closes what is left and ends the threads. Idempotent.
  void Stop() override;

  // What gRPC's health service says goes by Envoy's configuration too: to be called when that
  // changes.
  void UpdateHealth();

 private:
  struct Worker {
    net::EventLoop loop;
    std::vector<std::unique_ptr<frontend::http::FrontEnd>> front_ends;
    std::vector<std::unique_ptr<frontend::grpc::FrontEnd>> grpc_front_ends;
    std::vector<std::unique_ptr<frontend::resp::FrontEnd>> resp_front_ends;
    std::vector<std::unique_ptr<net::Listener>> listeners;
    std::optional<LoopWatch> watch;
    std::thread thread;

    // Requests that it is answering.
    [[nodiscard]] std::size_t InFlight() const;
  };

  Server(net::EventLoop& control, Engine& engine, const frontend::http::AdminContext& admin,
         const Credentials& credentials, const base::Clock& clock);
  [[nodiscard]] Result<void> OpenAll();
  void AddMetrics();

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
  Engine& engine_;
  const frontend::http::AdminContext admin_;
  const Credentials& credentials_;
  const base::Clock& clock_;
  frontend::http::Readiness readiness_;
  frontend::grpc::Health health_;
  std::optional<frontend::http::EnvoyContext> envoy_context_;  // Where there is Envoy's service.
  // Of their own, so that a flood of checks does not lock operators out.
  net::ConnectionLimit check_connections_;
  net::ConnectionLimit admin_connections_;
  LoadMetrics load_;
  std::atomic<std::uint64_t> last_resp_client_{0};
  frontend::http::ForwardingNotes forwarding_notes_;
  frontend::AnswerCounts http_answers_{frontend::Protocol::kHttp};
  frontend::AnswerCounts grpc_answers_{frontend::Protocol::kGrpc};
  frontend::AnswerCounts resp_answers_{frontend::Protocol::kResp};
  std::map<std::string, frontend::AnswerLog, std::less<>> answer_logs_;  // By listener.
  std::vector<std::unique_ptr<net::UnixSocket>> sockets_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<frontend::http::FrontEnd>> admin_front_ends_;
  std::vector<std::unique_ptr<net::Listener>> admin_listeners_;
  std::vector<OpenAddress> addresses_;
  bool stopped_ = false;
};

}  // namespace sluice::app
