#include "redis/spanning_call.h"

#include <algorithm>

#include "redis/check_request.h"

namespace sluice::redis {

using store::StoreError;

namespace {

bool Charged(const std::vector<store::CheckAnswer>& answers) {
  return std::ranges::any_of(answers, &store::CheckAnswer::charged);
}

}  // namespace

SpanningCall::Part& SpanningCall::PartOf(std::uint16_t slot) {
  for (std::size_t i = 0; i < used_; ++i) {
    if (parts_[i]->slot == slot) {
      return *parts_[i];
    }
  }
  if (used_ == parts_.size()) {
    parts_.push_back(std::make_unique<Part>());
  }
  Part& part = *parts_[used_++];
  part.whole = this;
  part.slot = slot;
  part.Clear();
  part.decided.clear();
  return part;
}

void SpanningCall::Begin(store::CheckCall& call, std::span<const std::uint16_t> slots) {
  call_ = &call;
  used_ = 0;
  denied_ = false;
  for (std::size_t i = 0; i < call.checks.size(); ++i) {
    if (slots[i] == kNoSlot) {
      call.answers[i] = UnlimitedAnswer(call.checks[i]);
      continue;
    }
    core::KeyView& key = PartOf(slots[i]).Add(call.checks[i], i).key;
    if (key.parts.empty()) {
      key.formerly = {};  // Only such a key lies elsewhere by another id.
    }
  }
  const bool may_be_undone = used_ > 1 && !call.peek && call.atomicity == store::Atomicity::kAll;
  const store::RequestId id = may_be_undone ? sender_.DrawId() | 1U : 0;
  open_ = used_ + 1;
  for (std::size_t i = 0; i < used_; ++i) {
    Part& part = *parts_[i];
    part.Prepare(call);
    part.request_id = id;
    sender_.SendPart(part);
  }
  OnPart();
}

void SpanningCall::OnPart() {
  if (--open_ == 0) {
    OnAllParts();
  }
}

void SpanningCall::OnAllParts() {
  if (denied_ || parts_[0]->request_id == 0) {
    Finish();
    return;
  }
  for (std::size_t i = 0; i < used_; ++i) {
    const Part& part = *parts_[i];
    for (std::size_t c = 0; c < part.checks.size() && part.error == StoreError::kNone; ++c) {
      denied_ |= !part.checks[c].shadow && !part.answers[c].decision.allowed;
    }
  }
  if (!denied_ || !TakeBack()) {
    Finish();
  }
}

bool SpanningCall::TakeBack() {
  open_ = 1;
  for (std::size_t i = 0; i < used_; ++i) {
    Part& part = *parts_[i];
    if (part.error == StoreError::kUnavailable) {
      sender_.SendUndo(part);  // Perhaps charged.
    } else if (part.error == StoreError::kNone && Charged(part.own_answers())) {
      sender_.SendUndo(part);
      part.decided = part.own_answers();
      ++open_;
    }
  }
  const bool any = open_ > 1;
  for (std::size_t i = 0; i < used_; ++i) {
    Part& part = *parts_[i];
    if (!part.decided.empty()) {
      part.peek = true;
      part.request_id = 0;
      sender_.SendPart(part);
    }
  }
  if (any) {
    OnPart();
  }
  return any;
}

void SpanningCall::Finish() {
  store::CheckCall& call = *call_;
  bool any_answered = used_ == 0;
  bool any_perhaps = false;
  for (std::size_t i = 0; i < used_; ++i) {
    Part& part = *parts_[i];
    const bool answered = part.error == StoreError::kNone;
    if (!part.decided.empty()) {
      // What was decided stands; the numbers are those of now.
      for (std::size_t c = 0; c < part.decided.size(); ++c) {
        store::Uncharge(part.checks[c], part.decided[c]);
        if (answered) {
          part.decided[c].decision.remaining = part.answers[c].decision.remaining;
          part.decided[c].decision.reset_after = part.answers[c].decision.reset_after;
        }
      }
      part.own_answers() = part.decided;
      part.error = StoreError::kNone;
    }
    any_answered |= part.error == StoreError::kNone;
    any_perhaps |= part.error == StoreError::kUnavailable;
    for (store::CheckAnswer& answer : part.own_answers()) {
      answer.shard = part.slot;
    }
    part.CopyAnswers(call);
    if (part.error == StoreError::kNone) {
      call.now = std::max(call.now, part.now);
    }
  }
  call.error = any_answered  ? StoreError::kNone
               : any_perhaps ? StoreError::kUnavailable
                             : StoreError::kDidNotRun;
  call_ = nullptr;
  sender_.OnSpanned(*this);
  call.OnAnswered();
}

}  // namespace sluice::redis
