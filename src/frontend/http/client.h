#pragma once

#include <string_view>

namespace sluice::frontend::http {

class Exchange;

// One client's connection to a front end as its exchanges know it, whichever HTTP it speaks. One
// thread.
class Client {
 public:
  virtual ~Client() = default;

  // Who is connected: Transport::peer_address().
  [[nodiscard]] virtual std::string_view peer_address() const = 0;

  // One of this connection's exchanges became ready.
  virtual void OnExchangeReady(Exchange& exchange) = 0;
};

}  // namespace sluice::frontend::http
