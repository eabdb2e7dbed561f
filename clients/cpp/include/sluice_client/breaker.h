#pragma once

// A circuit breaker, and the clock that it waits by.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>

#include "advise.h"

namespace sluice_client {

// Time and chance, which tests replace. Safe from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Deadline Now() const { return std::chrono::steady_clock::now(); }
  [[nodiscard]] virtual std::int64_t WallMs() const {
    return std::chrono::duration_cast<Milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  virtual void Sleep(Milliseconds time) { std::this_thread::sleep_for(time); }
  // From 0 to 1.
  [[nodiscard]] virtual double Random() {
    thread_local std::mt19937_64 engine{std::random_device{}()};
    return std::uniform_real_distribution<double>(0, 1)(engine);
  }

  static Clock& System() {
    static Clock clock;
    return clock;
  }
};

// Opens after `failures` failed calls in a row; then only one call each `retry_every` is tried, so
// that a daemon that does not answer costs few requests their timeout. One success closes it.
// Safe from any thread.
class Breaker {
 public:
  explicit Breaker(int failures = 3, Milliseconds retry_every = Milliseconds(1000),
                   Clock& clock = Clock::System())
      : most_(failures), retry_every_(retry_every), clock_(clock) {
    if (failures < 1 || retry_every.count() <= 0) {
      throw std::invalid_argument("breaker: failures is at least 1, and retry_every above 0");
    }
  }

  [[nodiscard]] bool IsOpen() const { return failed_.load() >= most_; }
  // Whether a call may be made now. If it is made, Succeeded() or Failed() must follow.
  [[nodiscard]] bool Allows() {
    if (!IsOpen()) {
      return true;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    if (clock_.Now() < retry_at_) {
      return false;
    }
    Postpone();  // This caller tries. The others go on without.
    return true;
  }
  // Until the next call may be made; 0 if one may be made now.
  [[nodiscard]] Milliseconds RetryIn() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto left = std::chrono::ceil<Milliseconds>(retry_at_ - clock_.Now());
    return IsOpen() ? std::max(left, Milliseconds(0)) : Milliseconds(0);
  }
  void Succeeded() { failed_.store(0); }
  void Failed() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failed_.fetch_add(1) + 1 >= most_) {
      Postpone();
    }
  }

 private:
  void Postpone() {  // Extended at random, so that many clients do not try in step.
    retry_at_ =
        clock_.Now() + Milliseconds(static_cast<std::int64_t>(
                           static_cast<double>(retry_every_.count()) * (1 + clock_.Random() / 2)));
  }

  const int most_;
  const Milliseconds retry_every_;
  Clock& clock_;
  std::atomic<int> failed_{0};
  mutable std::mutex mutex_;
  Deadline retry_at_{};
};

}  // namespace sluice_client
