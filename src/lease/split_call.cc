#include "lease/split_call.h"

#include <algorithm>

#include "lease/borrower.h"

namespace sluice::lease {

void SplitCall::Begin(store::CheckCall& of, NodeTime when) {
  call = &of;
  sent = when;
  deadline = of.deadline;
  atomicity = of.atomicity;
  error = store::StoreError::kNone;
  reserved.clear();
  known.clear();
  local.clear();
  is_denied_here = false;
  decided_ = 0;
}

bool SplitCall::Seal() {
  peek = call->peek || is_denied_here;
  is_whole_ = decided_ == 0 && peek == call->peek;
  if (is_whole_) {
    checks = call->checks;
    answers = call->answers;
    return true;
  }
  asked_.clear();
  own_checks_.clear();
  for (std::size_t i = 0; i < call->checks.size(); ++i) {
    if (!is_decided(i)) {
      asked_.push_back(i);
      own_checks_.push_back(call->checks[i]);
    }
  }
  own_answers_.assign(own_checks_.size(), {});
  checks = own_checks_;
  answers = own_answers_;
  return !own_checks_.empty();
}

const store::CheckAnswer& SplitCall::AnswerTo(std::size_t check) const {
  return is_whole_ ? answers[check]
                   : own_answers_[static_cast<std::size_t>(std::ranges::find(asked_, check) -
                                                           asked_.begin())];
}

bool SplitCall::IsDenied() const {
  for (std::size_t i = 0; error == store::StoreError::kNone && i < checks.size(); ++i) {
    if (!checks[i].shadow && answers[i].error == store::StoreError::kNone &&
        !answers[i].decision.allowed) {
      return is_all_or_nothing();
    }
  }
  return false;
}

void SplitCall::HandOver(WallInstant here) const {
  if (is_whole_) {
    call->error = error;
    call->now = now;
    return;
  }
  // The node's own decisions stay, whatever the shared store answers.
  call->error = store::StoreError::kNone;
  call->now = error == store::StoreError::kNone && !checks.empty() ? now : here;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    store::CheckAnswer& answer = call->answers[asked_[i]];
    answer = own_answers_[i];
    if (error != store::StoreError::kNone) {
      answer.error = error;
    }
  }
}

void SplitCall::OnAnswered() noexcept {
  borrower_->OnAnswered(*this);
}

}  // namespace sluice::lease
