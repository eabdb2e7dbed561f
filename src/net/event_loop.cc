#include "net/event_loop.h"

#include <boost/asio/executor_work_guard.hpp>

namespace sluice::net {

// The hint says that one thread runs the loop; posting from others stays safe.
EventLoop::EventLoop() : context_(1), wheel_(std::chrono::steady_clock::now()), wake_(context_) {}

void EventLoop::Run() {
  const auto work = boost::asio::make_work_guard(context_);
  context_.run();
  context_.restart();
}

std::size_t EventLoop::Poll() {
  context_.restart();
  return context_.poll();
}

std::size_t EventLoop::RunOne() {
  const auto work = boost::asio::make_work_guard(context_);
  context_.restart();
  return context_.run_one();
}

void EventLoop::Stop() {
  context_.stop();
}

void EventLoop::Arm(Timer& timer, SteadyTime when, TimerPrecision precision) {
  wheel_.Arm(timer, when, precision);
  Schedule();
}

// The kernel's timer is moved only where it would fire too late. Where it fires too early,
// as it does when connections put their deadlines off with every read, it is set again.
void EventLoop::Schedule() {
  const std::optional<SteadyTime> next = wheel_.NextWake();
  if (!next || *next >= wake_at_) {
    return;
  }
  wake_at_ = *next;
  wake_.expires_at(*next);
  wake_.async_wait([this](const boost::system::error_code& error) {
    if (!error) {
      OnWake();
    }
  });
}

void EventLoop::OnWake() {
  wake_at_ = SteadyTime::max();
  wheel_.Advance(std::chrono::steady_clock::now());
  Schedule();
}

}  // namespace sluice::net
