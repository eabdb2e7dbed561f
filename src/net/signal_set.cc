#include "net/signal_set.h"

#include <utility>

#include <boost/asio/signal_set.hpp>

#include "net/event_loop.h"

namespace sluice::net {

struct SignalSet::State : std::enable_shared_from_this<SignalSet::State> {
  State(EventLoop& loop, std::function<void(int)> on_signal_in)
      : on_signal(std::move(on_signal_in)), signals(loop.context()) {}

  void Wait() {
    signals.async_wait(
        [self = shared_from_this()](const boost::system::error_code& error, int signal) {
          if (error || self->closed) {
            return;
          }
          self->on_signal(signal);
          if (!self->closed) {
            self->Wait();
          }
        });
  }

  std::function<void(int)> on_signal;
  boost::asio::signal_set signals;
  bool closed = false;
};

SignalSet::SignalSet(EventLoop& loop, std::initializer_list<int> signals,
                     std::function<void(int)> on_signal)
    : state_(std::make_shared<State>(loop, std::move(on_signal))) {
  for (const int signal : signals) {
    boost::system::error_code ignored;  // Fails for no signal that can be caught.
    state_->signals.add(signal, ignored);
  }
  state_->Wait();
}

SignalSet::~SignalSet() {
  state_->closed = true;
  boost::system::error_code ignored;
  state_->signals.cancel(ignored);
  state_->signals.clear(ignored);
}

}  // namespace sluice::net
