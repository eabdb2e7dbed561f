#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "frontend/conversation.h"
#include "frontend/resp/connection.h"
#include "frontend/resp/exchange.h"
#include "frontend/resp/front_end_settings.h"
#include "net/transport.h"
#include "service/limiter_service.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::frontend::resp {

// One listener's side of one loop: its connections and what they share. Lives on its loop's
// thread; made before the loop runs and destroyed after it stopped and every store has answered.
class FrontEnd {
 public:
  // `last_client` numbers clients over all front ends that share it.
  FrontEnd(net::EventLoop& loop, service::LimiterService& service, const base::Clock& clock,
           std::atomic<std::uint64_t>& last_client, FrontEndSettings settings);
  ~FrontEnd();
  FrontEnd(const FrontEnd&) = delete;
  FrontEnd& operator=(const FrontEnd&) = delete;

  // Serves a connection until its end.
  void Accept(std::unique_ptr<net::Transport> transport);

  // Every connection answers what it was asked, or is asked within the grace, and then closes.
  void Drain();
  // Closes all at once.
  void CloseAll();

  [[nodiscard]] std::size_t connections() const { return connections_.size(); }
  // Exchanges that a connection or a store holds.
  [[nodiscard]] std::size_t exchanges_in_use() const { return exchanges_.in_use(); }

  // For handlers.
  [[nodiscard]] const FrontEndSettings& settings() const { return settings_; }
  [[nodiscard]] TokenCheck& password() { return password_; }
  [[nodiscard]] WallInstant WallClockNow() const { return clock_.Read().wall_clock; }

 private:
  friend class Connection;

  net::EventLoop& loop_;
  service::LimiterService& service_;
  const base::Clock& clock_;
  std::atomic<std::uint64_t>& last_client_;
  const FrontEndSettings settings_;
  TokenCheck password_;
  Pool<Exchange> exchanges_;
  ConnectionSet connections_;
};

}  // namespace sluice::frontend::resp
