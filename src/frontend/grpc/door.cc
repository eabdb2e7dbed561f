#include "frontend/grpc/door.h"

#include <utility>

namespace sluice::frontend::grpc {

Door::Door(net::EventLoop& loop, service::LimiterService& service,
           envoy::RateLimitService* rate_limits, const Health& health, DoorSettings settings)
    : loop_(loop),
      service_(service),
      rate_limits_(rate_limits),
      pin_(rate_limits == nullptr ? nullptr
                                  : std::make_unique<envoy::ConfigurationPin>(*rate_limits)),
      health_(health),
      settings_(std::move(settings)),
      random_(std::random_device{}()) {}

Door::~Door() {
  CloseAll();
}

void Door::Accept(std::unique_ptr<net::Transport> transport) {
  if (connections_.draining()) {
    transport->Close();
    return;
  }
  connections_.Add(std::make_shared<Connection>(*this, std::move(transport)));
}

void Door::Drain() {
  connections_.Drain();
}

void Door::CloseAll() {
  connections_.CloseAll();
}

void Door::OnHealthChanged() {
  connections_.ForEach([](Conversation& conversation) {
    auto& connection = static_cast<Connection&>(conversation);  // As all in this set.
    if (connection.has_watches()) {
      connection.OnHealthChanged();
    }
  });
}

Duration Door::NextAge() {
  const std::int64_t tenth = settings_.max_age.count() / 10;
  std::uniform_int_distribution<std::int64_t> spread(-tenth, tenth);
  return settings_.max_age + Duration(spread(random_));
}

}  // namespace sluice::frontend::grpc
