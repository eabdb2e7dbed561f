#pragma once

#include <cstddef>
#include <vector>

#include "store/key_store.h"

namespace sluice::store {

// A store that answers when the test says so. It allows everything, unless it
// is set to deny; the test chooses an answer by
// its `remaining`, which is the cost that was asked.
class PendingStore final : public KeyStore {
 public:
  void CheckMany(std::span<CheckCall* const> batch) override {
    ++batches;
    for (CheckCall* call : batch) {
      pending.push_back(call);
    }
    if (answer_at_once) {
      AnswerAll();
    }
  }
  void Refund(RefundCall& call) override { call.OnAnswered(); }
  void Reset(ResetCall& call) override { call.OnAnswered(); }
  void Release(HoldCall& call) override { call.OnAnswered(); }
  void Renew(HoldCall& call) override { call.OnAnswered(); }

  // Answers the i-th of those that wait.
  void Answer(std::size_t i) {
    CheckCall& call = *pending[i];
    pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(i));
    call.now = WallInstant(std::chrono::seconds(1'714'473'600));
    for (std::size_t k = 0; k < call.checks.size(); ++k) {
      call.answers[k] = CheckAnswer{};
      call.answers[k].decision = {.allowed = !denies,
                                  .limit = 1'000'000,
                                  .remaining = call.checks[k].cost.units,
                                  .reset_after = std::chrono::seconds(60),
                                  .wait = wait};
      call.answers[k].charged = !call.peek && !denies;
      charged += call.peek || denies ? 0 : call.checks[k].cost.units;
    }
    call.OnAnswered();
  }
  void AnswerAll() {
    while (!pending.empty()) {
      Answer(0);
    }
  }

  std::vector<CheckCall*> pending;
  Duration wait{};  // What every answer is shaped by.
  bool answer_at_once = false;
  bool denies = false;
  int batches = 0;
  Units charged = 0;
};

}  // namespace sluice::store
