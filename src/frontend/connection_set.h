#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "frontend/conversation.h"

namespace sluice::frontend {

// A front end's connections, each there until it ends. One thread.
class ConnectionSet {
 public:
  // Starts it, and drains it if the front end drains by now.
  void Add(const std::shared_ptr<Conversation>& connection) {
    connections_.emplace(connection.get(), connection);
    connection->Start();
    if (draining_ && connections_.contains(connection.get())) {
      connection->Drain();
    }
  }
  void Forget(Conversation& connection) { connections_.erase(&connection); }

  // What `use` does to one may end it, or others.
  template <class Use>
  void ForEach(Use use) {
    std::vector<std::shared_ptr<Conversation>> all;
    all.reserve(connections_.size());
    for (const auto& [key, connection] : connections_) {
      all.push_back(connection);
    }
    for (const auto& connection : all) {
      use(*connection);
    }
  }
  void Drain() {
    draining_ = true;
    ForEach([](Conversation& connection) { connection.Drain(); });
  }
  void CloseAll() {
    while (!connections_.empty()) {
      connections_.begin()->second->Close();
    }
  }

  [[nodiscard]] bool draining() const { return draining_; }
  [[nodiscard]] std::size_t size() const { return connections_.size(); }

 private:
  std::unordered_map<Conversation*, std::shared_ptr<Conversation>> connections_;
  bool draining_ = false;
};

}  // namespace sluice::frontend
