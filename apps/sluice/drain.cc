#include "drain.h"

#include <utility>

#include <spdlog/spdlog.h>

#include "net/event_loop.h"
#include "server.h"

namespace sluice::app {

Drain::Drain(net::EventLoop& control, Server& server, lease::LeaseStore* leases)
    : control_(control), server_(server), leases_(leases), check_([this] { Check(); }) {}

void Drain::Add(std::unique_ptr<lease::LeaseStore::Attachment> loop) {
  loops_.push_back(std::move(loop));
}

void Drain::Begin(std::chrono::nanoseconds timeout) {
  until_ = std::chrono::steady_clock::now() + timeout;
  server_.Drain();
  Check();
}

void Drain::Check() {
  constexpr auto kEvery = std::chrono::milliseconds(10);
  if (server_.drained() && GaveBack()) {
    spdlog::info("shutdown: all requests were answered");
    control_.Stop();
  } else if (std::chrono::steady_clock::now() >= until_) {
    spdlog::warn("drain_timeout is over: closing the remaining connections");
    control_.Stop();
  } else {
    control_.ArmAfter(check_, kEvery, net::TimerPrecision::kExact);
  }
}

bool Drain::GaveBack() {
  constexpr auto kLongest = std::chrono::milliseconds(500);
  if (leases_ == nullptr || leases_->idle()) {
    return true;
  }
  const auto now = std::chrono::steady_clock::now();
  if (give_back_until_ == net::SteadyTime{}) {
    give_back_until_ = now + kLongest;
    for (const auto& loop : loops_) {
      loop->Drain();
    }
  }
  return now >= give_back_until_;
}

}  // namespace sluice::app
