#pragma once

#include <cstddef>
#include <memory>

#include "envoy/rate_limit_service.h"
#include "frontend/access_token.h"
#include "frontend/conversation.h"
#include "frontend/exchanges.h"
#include "frontend/grpc/connection.h"
#include "frontend/grpc/exchange.h"
#include "frontend/grpc/front_end_settings.h"
#include "net/transport.h"
#include "service/limiter_service.h"
#include "wire/http2_memory.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::frontend::grpc {

// One gRPC listener's side of one loop: its connections and what they share. Lives on its loop's
// thread; made before the loop runs and destroyed after it stopped and every store has answered.
class FrontEnd {
 public:
  // `rate_limits`: Envoy's service; nullptr if not configured; its method is then unimplemented.
  FrontEnd(net::EventLoop& loop, service::LimiterService& service,
           envoy::RateLimitService* rate_limits, const Health& health, FrontEndSettings settings);
  ~FrontEnd();
  FrontEnd(const FrontEnd&) = delete;
  FrontEnd& operator=(const FrontEnd&) = delete;

  // Serves a connection until its end.
  void Accept(std::unique_ptr<net::Transport> transport);

  // Every connection answers its requests, and those that arrive within the grace period, and then
  // closes.
  void Drain();
  // Closes all at once.
  void CloseAll();
  // Notifies the watches.
  void OnHealthChanged();

  [[nodiscard]] std::size_t connections() const { return connections_.size(); }
  // Exchanges that a connection or a store holds.
  [[nodiscard]] std::size_t exchanges_in_use() const {
    return rate_limit_calls_.in_use() + natives_.in_use();
  }

 private:
  friend class Connection;

  // max_age, a tenth more or less.
  [[nodiscard]] Duration NextAge();

  net::EventLoop& loop_;
  service::LimiterService& service_;
  envoy::RateLimitService* const rate_limits_;
  std::unique_ptr<envoy::ConfigurationPin> pin_;
  const Health& health_;
  const FrontEndSettings settings_;
  TokenCheck token_{settings_.token};
  Pool<RateLimitExchange> rate_limit_calls_;
  Pool<NativeExchange> natives_;
  // Its connections share it too: a pending read or write may keep them longer than the front end.
  std::shared_ptr<wire::Http2Memory> http2_memory_ = std::make_shared<wire::Http2Memory>();
  ConnectionSet connections_;
};

}  // namespace sluice::frontend::grpc
