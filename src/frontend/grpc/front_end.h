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

namespace sluice::frontend::grpc {

// The front end of a gRPC listener.
class FrontEnd final : public FrontEndBase {
 public:
  // `rate_limits`: Envoy's service; nullptr if not configured; its method is then unimplemented.
  FrontEnd(net::EventLoop& loop, service::LimiterService& service,
           envoy::RateLimitService* rate_limits, const Health& health, FrontEndSettings settings);
  ~FrontEnd();

  // Serves a connection until its end.
  void Accept(std::unique_ptr<net::Transport> transport);

  // Notifies the watches.
  void OnHealthChanged();

  // Exchanges that a connection or a store holds.
  [[nodiscard]] std::size_t exchanges_in_use() const {
    return rate_limit_calls_.in_use() + natives_.in_use();
  }

 private:
  friend class Connection;

  // max_age, a tenth more or less.
  [[nodiscard]] Duration NextAge();

  envoy::RateLimitService* const rate_limits_;
  std::unique_ptr<envoy::ConfigurationPin> pin_;
  const Health& health_;
  const FrontEndSettings settings_;
  TokenCheck token_{settings_.token};
  Pool<RateLimitExchange> rate_limit_calls_;
  Pool<NativeExchange> natives_;
  // Its connections share it too: a pending read or write may keep them longer than the front end.
  std::shared_ptr<wire::Http2Memory> http2_memory_ = std::make_shared<wire::Http2Memory>();
};

}  // namespace sluice::frontend::grpc
