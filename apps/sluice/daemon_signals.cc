#include "daemon_signals.h"

#include <csignal>
#include <utility>

namespace sluice::app {

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
