#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "store/key_store.h"

namespace sluice::support {

// A store that says what a test tells it to, at once or when the test needs it, and keeps
// no state. Takes down what it was asked.
class ScriptedStore : public store::KeyStore {
 public:
  using Script = std::function<store::CheckAnswer(const store::Check&)>;

  // Answers every check: allowed, 10 of 10 left, until a test says otherwise.
  Script script = [](const store::Check&) {
    return store::CheckAnswer{.decision = {.allowed = true, .limit = 10, .remaining = 10}};
  };
  store::StoreError call_error = store::StoreError::kNone;
  bool late = false;  // Answers only in AnswerLast() and AnswerAll().

  std::size_t batches = 0;
  std::size_t largest_batch = 0;
  bool peeked = false;             // The last call.
  std::vector<std::string> asked;  // Rule ids, in the order of asking.
  std::vector<std::string> verbs;  // "refund api 3", "reset api", "release new formerly old 7".

  void CheckMany(std::span<store::CheckCall* const> batch) override {
    ++batches;
    largest_batch = std::max(largest_batch, batch.size());
    for (store::CheckCall* const call : batch) {
      peeked = call->peek;
      if (late) {
        waiting_.push_back(call);
      } else {
        Answer(*call);
      }
    }
  }
  void Refund(store::RefundCall& call) override {
    verbs.push_back("refund " + std::string(call.key.rule) + " " + std::to_string(call.units));
    call.error = call_error;
    call.OnAnswered();
  }
  void Reset(store::ResetCall& call) override {
    verbs.push_back("reset " + std::string(call.key.rule));
    call.error = call_error;
    call.OnAnswered();
  }
  void Settle(store::SettleCall& call) override {
    verbs.push_back("settle " + std::string(call.key.rule) + " " + std::to_string(call.units));
    call.settled = call.units;
    call.error = call_error;
    call.OnAnswered();
  }
  void Release(store::HoldCall& call) override {
    verbs.push_back("release " + std::string(call.key.rule) + " formerly " +
                    Joined(call.key.formerly) + " " + std::to_string(call.hold));
    call.error = call_error;
    call.OnAnswered();
  }
  void Renew(store::HoldCall& call) override {
    verbs.push_back("renew " + std::string(call.key.rule) + " formerly " +
                    Joined(call.key.formerly) + " " + std::to_string(call.hold));
    call.error = call_error;
    call.OnAnswered();
  }

  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  // The newest first: out of order.
  void AnswerLast() {
    store::CheckCall* const call = waiting_.back();
    waiting_.pop_back();
    Answer(*call);
  }

 private:
  static std::string Joined(std::span<const std::string> ids) {
    std::string text;
    for (const std::string& id : ids) {
      text += (text.empty() ? "" : ",") + id;
    }
    return text;
  }
  void Answer(store::CheckCall& call) {
    call.error = call_error;
    for (std::size_t i = 0; i < call.checks.size(); ++i) {
      asked.emplace_back(call.checks[i].key.rule);
      call.answers[i] = script(call.checks[i]);
    }
    call.now = WallInstant(std::chrono::seconds(1'700'000'000));
    call.OnAnswered();
  }

  std::vector<store::CheckCall*> waiting_;
};

}  // namespace sluice::support
