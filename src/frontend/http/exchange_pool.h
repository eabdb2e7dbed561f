#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "frontend/answer_log.h"
#include "frontend/http/exchange.h"
#include "frontend/http/limit_headers.h"

namespace sluice::signing {
class Keyring;
}  // namespace sluice::signing

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::frontend::http {

// The exchanges of one front end on one loop: made when there is none to reuse, kept until the
// end. Bounded by connections times pipeline depth. Must outlive every call that a store
// still holds. One thread.
class ExchangePool {
 public:
  // A shaped answer is held back for `longest_wait` at most.
  ExchangePool(net::EventLoop& loop, const base::Clock& clock, Duration longest_wait,
               LimitDialects limit_dialects = {}, const signing::Keyring* keys = nullptr,
               AnswerLog* log = nullptr)
      : loop_(loop),
        clock_(clock),
        longest_wait_(longest_wait),
        limit_dialects_(limit_dialects),
        keys_(keys),
        log_(log) {}
  ExchangePool(const ExchangePool&) = delete;
  ExchangePool& operator=(const ExchangePool&) = delete;

  [[nodiscard]] net::EventLoop& loop() { return loop_; }
  [[nodiscard]] const base::Clock& clock() const { return clock_; }
  [[nodiscard]] Duration longest_wait() const { return longest_wait_; }
  [[nodiscard]] LimitDialects limit_dialects() const { return limit_dialects_; }
  // Where refusals of requests are logged; nullptr: nowhere.
  [[nodiscard]] AnswerLog* log() const { return log_; }
  // nullptr: no tokens are given out or taken.
  [[nodiscard]] const signing::Keyring* keys() const { return keys_; }

  [[nodiscard]] Exchange& Take() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<Exchange>(*this));
      free_.reserve(all_.capacity());  // So that Return() never allocates.
      return *all_.back();
    }
    Exchange& exchange = *free_.back();
    free_.pop_back();
    return exchange;
  }

  void Return(Exchange& exchange) noexcept { free_.push_back(&exchange); }

  // How many are with connections or stores.
  [[nodiscard]] std::size_t in_use() const { return all_.size() - free_.size(); }

 private:
  net::EventLoop& loop_;
  const base::Clock& clock_;
  const Duration longest_wait_;
  const LimitDialects limit_dialects_;
  const signing::Keyring* const keys_;
  AnswerLog* const log_;
  std::vector<std::unique_ptr<Exchange>> all_;
  std::vector<Exchange*> free_;
};

}  // namespace sluice::frontend::http
