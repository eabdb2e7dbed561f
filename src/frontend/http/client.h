#pragma once

#include <memory>
#include <string_view>

#include "net/transport.h"

namespace sluice::frontend::http {

class Exchange;

// One client's connection to a door, whichever HTTP it speaks. Owned by its door and, until
// they end, by its reads, writes and posts. One thread.
class Client : public net::TransportUser, public std::enable_shared_from_this<Client> {
 public:
  virtual void Start() = 0;
  // Answers what was asked, or is asked within the grace, says that it closes, and closes.
  virtual void Drain() = 0;
  // At once. Exchanges that a store still has come back to the pool by themselves.
  virtual void Close() = 0;

  // Who is connected: Transport::peer_address().
  [[nodiscard]] virtual std::string_view peer_address() const = 0;

  // One of this connection's exchanges became ready.
  virtual void OnExchangeReady(Exchange& exchange) = 0;
};

}  // namespace sluice::frontend::http
