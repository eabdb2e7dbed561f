#include "frontend/grpc/door.h"

#include <utility>
#include <vector>

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
  if (draining_) {
    transport->Close();
    return;
  }
  auto connection = std::make_shared<Connection>(*this, std::move(transport));
  connections_.emplace(connection.get(), connection);
  connection->Start();
}

void Door::Drain() {
  draining_ = true;
  std::vector<std::shared_ptr<Connection>> all;  // Draining one may forget it.
  all.reserve(connections_.size());
  for (const auto& [key, connection] : connections_) {
    all.push_back(connection);
  }
  for (const auto& connection : all) {
    connection->Drain();
  }
}

void Door::CloseAll() {
  while (!connections_.empty()) {
    connections_.begin()->second->Close();
  }
}

void Door::OnHealthChanged() {
  std::vector<std::shared_ptr<Connection>> all;  // Telling one may end it.
  for (const auto& [key, connection] : connections_) {
    if (connection->has_watches()) {
      all.push_back(connection);
    }
  }
  for (const auto& connection : all) {
    connection->OnHealthChanged();
  }
}

void Door::Forget(Connection& connection) {
  connections_.erase(&connection);
}

Duration Door::NextAge() {
  const std::int64_t tenth = settings_.max_age.count() / 10;
  std::uniform_int_distribution<std::int64_t> spread(-tenth, tenth);
  return settings_.max_age + Duration(spread(random_));
}

}  // namespace sluice::frontend::grpc
