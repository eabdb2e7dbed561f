#include "lifecycle.h"

#include <chrono>
#include <csignal>
#include <utility>

#include "control/log_event.h"
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
    control::LogEvent(spdlog::level::info, "drained", "shutdown: all requests were answered");
    control_.Stop();
  } else if (std::chrono::steady_clock::now() >= until_) {
    control::LogEvent(spdlog::level::warn, "drain_timeout",
                      "drain_timeout is over: closing the remaining connections");
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

DaemonSignals::DaemonSignals(net::EventLoop& loop)
    : signals_(loop, {SIGTERM, SIGINT, SIGHUP}, [this](int signal) { OnSignal(signal); }) {}

void DaemonSignals::Attach(Actions actions) {
  actions_ = std::move(actions);
  const bool must_reload = std::exchange(must_reload_, false);
  if (const int signal = std::exchange(stop_signal_, 0); signal != 0) {
    actions_->stop(signal);
  } else if (must_reload) {
    actions_->reload();
  }
}

void DaemonSignals::OnSignal(int signal) {
  if (signal == SIGHUP) {
    if (actions_) {
      actions_->reload();
    } else {
      must_reload_ = true;
    }
  } else if (actions_) {
    actions_->stop(signal);
  } else {
    stop_signal_ = signal;
  }
}

}  // namespace sluice::app
