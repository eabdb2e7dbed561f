#include "frontend/resp/front_end.h"

#include <utility>

namespace sluice::frontend::resp {

FrontEnd::FrontEnd(net::EventLoop& loop, service::LimiterService& service, const base::Clock& clock,
                   std::atomic<std::uint64_t>& last_client, FrontEndSettings settings)
    : FrontEndBase(loop, service),
      clock_(clock),
      last_client_(last_client),
      settings_(std::move(settings)),
      password_(settings_.password) {}

FrontEnd::~FrontEnd() {
  CloseAll();
}

void FrontEnd::Accept(std::unique_ptr<net::Transport> transport) {
  if (connections_.draining()) {
    transport->Close();
    return;
  }
  // They must only be distinct, so relaxed order is enough.
  const std::uint64_t id = last_client_.fetch_add(1, std::memory_order_relaxed) + 1;
  connections_.Add(std::make_shared<Connection>(*this, std::move(transport), id));
}

}  // namespace sluice::frontend::resp
