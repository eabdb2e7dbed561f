#include "frontend/grpc/front_end.h"

#include <utility>

#include "base/random.h"

namespace sluice::frontend::grpc {

FrontEnd::FrontEnd(net::EventLoop& loop, service::LimiterService& service,
                   envoy::RateLimitService* rate_limits, const Health& health,
                   FrontEndSettings settings)
    : FrontEndBase(loop, service),
      rate_limits_(rate_limits),
      pin_(rate_limits == nullptr ? nullptr
                                  : std::make_unique<envoy::ConfigurationPin>(*rate_limits)),
      health_(health),
      settings_(std::move(settings)) {}

FrontEnd::~FrontEnd() {
  CloseAll();
}

void FrontEnd::Accept(std::unique_ptr<net::Transport> transport) {
  if (connections_.draining()) {
    transport->Close();
    return;
  }
  connections_.Add(std::make_shared<Connection>(*this, std::move(transport)));
}

void FrontEnd::OnHealthChanged() {
  connections_.ForEach([](Conversation& conversation) {
    auto& connection = static_cast<Connection&>(conversation);  // Like all in this set.
    if (connection.has_watches()) {
      connection.OnHealthChanged();
    }
  });
}

Duration FrontEnd::NextAge() {
  const std::int64_t tenth = settings_.max_age.count() / 10;
  return settings_.max_age + Duration(base::ThreadRandom().Between(-tenth, tenth));
}

}  // namespace sluice::frontend::grpc
