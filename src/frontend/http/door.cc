#include "frontend/http/door.h"

#include <utility>
#include <vector>

#include "base/coarse_clock.h"

namespace sluice::frontend::http {

Door::Door(net::EventLoop& loop, service::LimiterService& service,
           const telemetry::Registry& registry, const Readiness& readiness,
           const base::Clock& clock, DoorSettings settings)
    : loop_(loop),
      service_(service),
      clock_(clock),
      settings_(std::move(settings)),
      router_(settings_, readiness, registry),
      pool_(loop, clock, settings_.longest_wait) {}

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

void Door::Forget(Connection& connection) {
  connections_.erase(&connection);
}

std::string_view Door::DateNow() {
  const auto tick = base::CoarseSteadyNow();
  if (tick != date_tick_) {
    date_tick_ = tick;
    const Duration since_epoch = clock_.Read().wall.time_since_epoch();
    date_now_ = date_.At(std::chrono::duration_cast<std::chrono::seconds>(since_epoch).count());
  }
  return date_now_;
}

}  // namespace sluice::frontend::http
