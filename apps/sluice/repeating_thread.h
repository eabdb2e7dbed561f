#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include <pthread.h>

#include "sluice/time.h"

namespace sluice::app {

// A thread that does the same again and again, with a pause between. Start() and Stop() are called
// by one thread.
class RepeatingThread {
 public:
  // One turn. Returns how long to pause before the next.
  using Turn = std::function<Duration()>;

  // `name`: at most 15 bytes, for people who look at threads. The first turn comes after `pause`.
  void Start(const char* name, Duration pause, Turn turn) {
    thread_ = std::jthread([this, name, pause, turn = std::move(turn)](std::stop_token stop) {
      ::pthread_setname_np(::pthread_self(), name);
      Run(stop, pause, turn);
    });
  }
  // Ends it after the turn under way, without another pause. False: it does not run.
  bool Stop() {
    if (!thread_.joinable()) {
      return false;
    }
    thread_.request_stop();
    thread_.join();
    return true;
  }

 private:
  void Run(const std::stop_token& stop, Duration pause, const Turn& turn) {
    std::unique_lock lock(mutex_);
    while (!stopped_.wait_for(lock, stop, pause, [&stop] { return stop.stop_requested(); })) {
      lock.unlock();
      pause = turn();
      lock.lock();
    }
  }

  std::mutex mutex_;  // For the pause alone.
  std::condition_variable_any stopped_;
  std::jthread thread_;
};

}  // namespace sluice::app
