#include "lifecycle.h"

#include <chrono>
#include <utility>

#include <spdlog/spdlog.h>

#include "net/event_loop.h"

namespace sluice::app {

Lifecycle::Lifecycle(net::EventLoop& control, std::vector<Component*> components)
    : control_(control), components_(std::move(components)), check_([this] { Check(); }) {}

Lifecycle::~Lifecycle() {
  Stop();
}

void Lifecycle::Start() {
  for (Component* const component : components_) {
    component->Start();
    started_.push_back(component);
  }
}

void Lifecycle::Drain(Duration timeout) {
  until_ = std::chrono::steady_clock::now() + timeout;
  undrained_ = started_;
  if (!undrained_.empty()) {
    undrained_.back()->Drain();
  }
  Check();
}

void Lifecycle::Check() {
  constexpr auto kEvery = std::chrono::milliseconds(10);
  while (!undrained_.empty() && undrained_.back()->drained()) {
    undrained_.pop_back();
    if (!undrained_.empty()) {
      undrained_.back()->Drain();
    }
  }
  if (undrained_.empty()) {
    spdlog::info("shutdown: all requests were answered");
    control_.Stop();
  } else if (std::chrono::steady_clock::now() >= until_) {
    spdlog::warn("drain_timeout is over: closing the remaining connections");
    control_.Stop();
  } else {
    control_.ArmAfter(check_, kEvery, net::TimerPrecision::kExact);
  }
}

void Lifecycle::Stop() {
  check_.Cancel();
  while (!started_.empty()) {
    started_.back()->Stop();
    started_.pop_back();
  }
}

}  // namespace sluice::app
