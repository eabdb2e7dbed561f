#pragma once

#include <cstddef>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "net/timer_wheel.h"

namespace sluice::net {

// One thread's loop: sockets, posted work and timers. Create one per core and run each on its own
// thread. Only Post() and Stop() are safe from other threads.
class EventLoop {
 public:
  EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Runs until Stop(), also with nothing to do.
  void Run();

  // Does what is ready now and returns how many things; then waits for nothing. For tests.
  std::size_t Poll();

  // Does one thing, waiting for it if need be.
  std::size_t RunOne();

  // Run() returns after what it is just doing; the work left stays. Any thread.
  void Stop();

  // `work` runs later on the loop's thread, in order per poster. Any thread.
  template <class Work>
  void Post(Work&& work) {
    boost::asio::post(context_, std::forward<Work>(work));
  }

  // From the loop's thread.
  void Arm(Timer& timer, SteadyTime when, TimerPrecision precision = TimerPrecision::kCoarse);
  void ArmAfter(Timer& timer, std::chrono::nanoseconds wait,
                TimerPrecision precision = TimerPrecision::kCoarse) {
    Arm(timer, std::chrono::steady_clock::now() + wait, precision);
  }

  // For what is built on Asio: transports, listeners.
  [[nodiscard]] boost::asio::io_context& context() { return context_; }

 private:
  void Schedule();
  void OnWake();

  boost::asio::io_context context_;
  TimerWheel wheel_;
  boost::asio::steady_timer wake_;
  SteadyTime wake_at_ = SteadyTime::max();  // When wake_ fires; max: not armed.
};

}  // namespace sluice::net
