#include "service/charge_call.h"

#include <string>
#include <utility>

#include "core/key.h"

namespace sluice::service {

namespace {

using rules::OnStoreError;
using store::StoreError;

// The innermost batch of this thread, and how many it has had.
thread_local ChargeBatch* current = nullptr;
thread_local std::uint64_t batches = 0;

// A call that owns all it points to, and itself.
template <class Verb>
class OwnVerb final : public Verb {
 public:
  OwnVerb(std::shared_ptr<const void> quota_owner, const store::Check& check)
      : quota_owner_(std::move(quota_owner)), kept_(check.key) {
    this->key = kept_.view();
    this->quota = check.quota;
  }

  void OnAnswered() noexcept override { delete this; }

 private:
  std::shared_ptr<const void> quota_owner_;
  const core::Key kept_;
};

// Gives back what `store` charged for a check. No caller waits for the answer. What the store
// cannot take back stays charged and expires. Allocates, but only for requests that are degraded
// and denied.
void TakeBack(store::KeyStore& store, const std::shared_ptr<const void>& kept,
              const store::Check& check, const store::CheckAnswer& answer) {
  if (answer.hold != 0) {
    auto* const call = new OwnVerb<store::HoldCall>(kept, check);
    call->hold = answer.hold;
    store.Release(*call);
  } else {
    auto* const call = new OwnVerb<store::RefundCall>(kept, check);
    call->units = check.cost.units;
    call->sync = check.sync;
    call->is_undo = true;
    store.Refund(*call);
  }
}

}  // namespace

void ChargeCall::Prepare(const DecisionPath& path) {
  path_ = &path;
  failed_ = false;
  room_.unanswered.clear();
  if (!checks_.empty()) {  // Otherwise there are none, or they are borrowed.
    checks = checks_;
    answers = answers_;
  }
  error = StoreError::kNone;
  now = WallInstant{};
}

void ChargeCall::Send(const DecisionPath& path) {
  Prepare(path);
  if (checks.empty()) {
    OnAnswered();
  } else {
    store::CheckCall* const self = this;
    path.store.CheckMany({&self, 1});
  }
}

void ChargeCall::DecideWithout(const DecisionPath& path, StoreError why) {
  Prepare(path);
  error = why;
  OnAnswered();
}

void ChargeCall::FallBack(const std::shared_ptr<const void>& kept) {
  const bool all = atomicity == store::Atomicity::kAll;
  // The call failed as a whole: no check has an answer of its own, and the store stated no time.
  if (error != StoreError::kNone) {
    for (store::CheckAnswer& answer : answers) {
      answer = {.error = error};
    }
    now = WallInstant{};
  }
  // The fallback charges only what can still pass. All or nothing: once the store denies a check,
  // or a rule fails the request, nothing is charged.
  bool charge = !peek;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (answers[i].error == StoreError::kNone) {
      charge &= !all || checks[i].shadow || answers[i].decision.allowed;
    } else if (PolicyOf(i) == OnStoreError::kFail) {
      failed_ = true;
      charge &= !all;
    } else {
      room_.unanswered.push_back({.check = &checks[i], .policy = PolicyOf(i)});
    }
  }
  if (path_->fallback != nullptr) {
    path_->fallback->Decide(atomicity, charge, room_);
  } else {
    for (UnansweredCheck& unanswered : room_.unanswered) {
      unanswered.failed = DecideWithoutStore(unanswered.policy, unanswered.check->quota);
    }
  }
  // The store has charged its part already. A denial that is known only now must not cost anything.
  if (all && (failed_ || std::ranges::any_of(room_.unanswered, Denies))) {
    TakeBackAll(kept);
  }
  // Last: until here the errors in the answers say which checks the store left open.
  for (const UnansweredCheck& unanswered : room_.unanswered) {
    answers[static_cast<std::size_t>(unanswered.check - checks.data())] = {
        .decision = unanswered.failed.decision,
        .charged = unanswered.charged,
        .hold = unanswered.hold,
        .receipt = {.store_id = unanswered.store_id}};
  }
}

// A denied request is charged nothing, even if only a part of the store is reachable.
void ChargeCall::TakeBackAll(const std::shared_ptr<const void>& kept) {
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (answers[i].error == StoreError::kNone && answers[i].charged) {
      TakeBack(path_->store, kept, checks[i], answers[i]);
      store::Uncharge(checks[i], answers[i]);
    }
  }
}

Outcome ChargeCall::OutcomeOfUnanswered(std::size_t i) const {
  const auto found = std::ranges::find(room_.unanswered, &checks[i], &UnansweredCheck::check);
  return found != room_.unanswered.end() ? found->failed.outcome
                                         : OutcomeOf(answers[i].decision.allowed, checks[i].shadow);
}

void ChargeCall::Conclude() {
  if (path_->fallback != nullptr) {
    for (std::size_t i = 0; i < checks.size(); ++i) {
      if (!answers[i].decision.allowed) {
        path_->fallback->Remember(checks[i], answers[i].decision);
      }
    }
  }
  // A batch takes two readings of the clock for all its charges. A charge that is answered after
  // its batch has ended is timed alone. Batches are compared by number, as another may lie at the
  // same address by now.
  if (current != nullptr && current->number_ == batch_) {
    ++current->answered_;
  } else if (path_->durations != nullptr && batch_ != 0) {
    path_->durations->Record(std::chrono::steady_clock::now() - started_);
  }
}

ChargeBatch::ChargeBatch(const DecisionPath& path)  // NOLINT: asked_ is filled as charges come.
    : path_(path), outer_(current), number_(++batches), store_(&path.store) {
  current = this;
  if (path_.durations != nullptr) {
    started_ = std::chrono::steady_clock::now();
  }
}

ChargeBatch::~ChargeBatch() {
  current = outer_;
  if (answered_ != 0 && path_.durations != nullptr) {
    path_.durations->Record(std::chrono::steady_clock::now() - started_, answered_);
  }
}

void ChargeBatch::Add(ChargeCall& charge, const DecisionPath& path) {
  Join(charge);
  charge.Prepare(path);
  if (charge.checks.empty()) {
    charge.OnAnswered();
  } else {
    Ask(charge, path.store);
  }
}

void ChargeBatch::Join(ChargeCall& charge) {
  charge.batch_ = number_;
  charge.started_ = started_;
}

void ChargeBatch::Ask(store::CheckCall& call, store::KeyStore& store) {
  // What was gathered for the other store goes first, so charges keep their order.
  if (&store != store_) {
    Send();
    store_ = &store;
  }
  asked_[count_++] = &call;
  if (count_ == kAtOnce) {
    Send();
  }
}

void ChargeBatch::Send() {
  if (count_ != 0) {
    store_->CheckMany({asked_.data(), std::exchange(count_, 0)});
  }
}

}  // namespace sluice::service
