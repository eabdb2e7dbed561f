#include "frontend/resp/door.h"

#include <utility>
#include <vector>

namespace sluice::frontend::resp {

Door::Door(net::EventLoop& loop, service::LimiterService& service, const base::Clock& clock,
           std::atomic<std::uint64_t>& last_client, DoorSettings settings)
    : loop_(loop),
      service_(service),
      clock_(clock),
      last_client_(last_client),
      settings_(std::move(settings)),
      password_(settings_.password) {}

Door::~Door() {
  CloseAll();
}

void Door::Accept(std::unique_ptr<net::Transport> transport) {
  if (draining_) {
    transport->Close();
    return;
  }
  // Only distinct, so relaxed order does.
  const std::uint64_t id = last_client_.fetch_add(1, std::memory_order_relaxed) + 1;
  auto connection = std::make_shared<Connection>(*this, std::move(transport), id);
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

}  // namespace sluice::frontend::resp
