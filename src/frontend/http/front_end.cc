#include "frontend/http/front_end.h"

#include <utility>

#include "base/clock.h"
#include "frontend/http/connection.h"
#include "frontend/http/http2_connection.h"

namespace sluice::frontend::http {

FrontEnd::FrontEnd(net::EventLoop& loop, service::LimiterService& service,
                   const telemetry::Registry& registry, const Readiness& readiness,
                   const base::Clock& clock, FrontEndSettings settings)
    : FrontEndBase(loop, service),
      clock_(clock),
      settings_(std::move(settings)),
      router_(settings_, service, readiness, registry),
      pool_(loop, clock, settings_) {}

FrontEnd::~FrontEnd() {
  CloseAll();
}

void FrontEnd::Accept(std::unique_ptr<net::Transport> transport) {
  if (connections_.draining()) {
    transport->Close();
    return;
  }
  if (transport->protocol() == "h2") {
    Accept(std::move(transport), {});
  } else {
    connections_.Add(std::make_shared<Connection>(*this, std::move(transport)));
  }
}

void FrontEnd::Accept(std::unique_ptr<net::Transport> transport, std::string_view begun) {
  connections_.Add(std::make_shared<Http2Connection>(*this, std::move(transport), begun));
}

std::string_view FrontEnd::DateNow() {
  const auto tick = base::CoarseSteadyNow();
  if (tick != date_tick_) {
    date_tick_ = tick;
    const Duration since_epoch = clock_.Read().wall_clock.time_since_epoch();
    date_now_ = date_.At(std::chrono::duration_cast<std::chrono::seconds>(since_epoch).count());
  }
  return date_now_;
}

}  // namespace sluice::frontend::http
