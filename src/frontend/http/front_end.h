#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "frontend/conversation.h"
#include "frontend/http/exchange.h"
#include "frontend/http/front_end_settings.h"
#include "frontend/http/router.h"
#include "net/timer_wheel.h"
#include "net/transport.h"
#include "service/limiter_service.h"
#include "wire/http1_response.h"
#include "wire/http2_memory.h"

namespace sluice::frontend::http {

class Connection;
class Http2Connection;

// The front end of an HTTP listener. Idle connections close at once when it drains.
class FrontEnd final : public FrontEndBase {
 public:
  FrontEnd(net::EventLoop& loop, service::LimiterService& service,
           const telemetry::Registry& registry, const Readiness& readiness,
           const base::Clock& clock, FrontEndSettings settings);
  ~FrontEnd();

  // Serves a connection until its end.
  void Accept(std::unique_ptr<net::Transport> transport);

  // Exchanges that a connection or a store holds.
  [[nodiscard]] std::size_t exchanges_in_use() const { return pool_.in_use(); }

 private:
  friend class Connection;
  friend class Http2Connection;

  // Continues a connection that began with HTTP/2's preface.
  void Accept(std::unique_ptr<net::Transport> transport, std::string_view begun);
  // An answer that goes out.
  void Count(int status) noexcept {
    if (settings_.answers != nullptr) {
      settings_.answers->Count(status);
    }
  }
  // An answer's Date: the clock is read once per tick of the kernel's, which is some 4 ms.
  [[nodiscard]] std::string_view DateNow();

  const base::Clock& clock_;
  const FrontEndSettings settings_;
  Router router_;
  ExchangePool pool_;
  // Its connections share it too: a pending read or write may keep them longer than the front end.
  std::shared_ptr<wire::Http2Memory> http2_memory_ = std::make_shared<wire::Http2Memory>();
  wire::DateText date_;
  std::string_view date_now_;  // The text of date_ at date_tick_.
  net::SteadyTime date_tick_;
};

}  // namespace sluice::frontend::http
