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

namespace sluice::frontend::resp {

// The front end of a RESP listener.
class FrontEnd final : public FrontEndBase {
 public:
  // `last_client` numbers clients over all front ends that share it.
  FrontEnd(net::EventLoop& loop, service::LimiterService& service, const base::Clock& clock,
           std::atomic<std::uint64_t>& last_client, FrontEndSettings settings);
  ~FrontEnd();

  // Serves a connection until its end.
  void Accept(std::unique_ptr<net::Transport> transport);

  // Exchanges that a connection or a store holds.
  [[nodiscard]] std::size_t exchanges_in_use() const { return exchanges_.in_use(); }

  // For handlers.
  [[nodiscard]] const FrontEndSettings& settings() const { return settings_; }
  [[nodiscard]] TokenCheck& password() { return password_; }
  [[nodiscard]] WallInstant WallClockNow() const { return clock_.Read().wall_clock; }

 private:
  friend class Connection;

  const base::Clock& clock_;
  std::atomic<std::uint64_t>& last_client_;
  const FrontEndSettings settings_;
  TokenCheck password_;
  Pool<Exchange> exchanges_;
};

}  // namespace sluice::frontend::resp
