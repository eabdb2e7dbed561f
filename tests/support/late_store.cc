#include "support/late_store.h"

#include <algorithm>
#include <utility>

namespace sluice::support {

namespace {

// What `inner` gets: the same question, answered into a place of its own.
template <class Call>
struct Asked final : Call {
  bool answered = false;
  void OnAnswered() noexcept override { answered = true; }
};

void CopyQuestion(const store::CheckCall& from, store::CheckCall& to) {
  to.checks = from.checks;
  to.atomicity = from.atomicity;
  to.peek = from.peek;
}

void CopyQuestion(const store::RefundCall& from, store::RefundCall& to) {
  to.key = from.key;
  to.quota = from.quota;
  to.units = from.units;
}

void CopyQuestion(const store::ResetCall& from, store::ResetCall& to) {
  to.key = from.key;
  to.quota = from.quota;
  to.counts_for = from.counts_for;
}

void CopyQuestion(const store::HoldCall& from, store::HoldCall& to) {
  to.key = from.key;
  to.quota = from.quota;
  to.hold = from.hold;
  to.store_id = from.store_id;
}

void CopyQuestion(const store::SettleCall& from, store::SettleCall& to) {
  to.key = from.key;
  to.quota = from.quota;
  to.receipt = from.receipt;
  to.charged = from.charged;
  to.units = from.units;
  to.open_for = from.open_for;
}

void CopyQuestion(const store::BanCall& from, store::BanCall& to) {
  to.key = from.key;
  to.duration = from.duration;
}

}  // namespace

bool LateStore::Pump() {
  if (waiting_.empty()) {
    return false;
  }
  std::swap(waiting_[random_() % waiting_.size()], waiting_.back());
  const Waiting next = std::move(waiting_.back());
  waiting_.pop_back();
  next.call->error = next.error;
  next.call->now = next.now;
  if (next.check != nullptr) {
    std::ranges::copy(next.answers, next.check->answers.begin());
  }
  if (next.settle != nullptr) {
    next.settle->settled = next.settled;
  }
  if (next.bans != nullptr) {
    next.bans->bans = next.banned;
  }
  next.call->OnAnswered();
  return true;
}

void LateStore::CheckMany(std::span<store::CheckCall* const> batch) {
  std::vector<Asked<store::CheckCall>> asked(batch.size());
  std::vector<store::CheckCall*> inner;
  const std::size_t first = waiting_.size();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    waiting_.push_back({.call = batch[i],
                        .check = batch[i],
                        .error = store::StoreError::kNone,
                        .now = {},
                        .answers = std::vector<store::CheckAnswer>(batch[i]->checks.size())});
    CopyQuestion(*batch[i], asked[i]);
    asked[i].deadline = batch[i]->deadline;
    asked[i].request_id = batch[i]->request_id;
    inner.push_back(&asked[i]);
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    asked[i].answers = waiting_[first + i].answers;
  }
  inner_.CheckMany(inner);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    waiting_[first + i].error = asked[i].error;
    waiting_[first + i].now = asked[i].now;
  }
}

template <class Call>
void LateStore::Later(Call& call, void (store::KeyStore::*verb)(Call&)) {
  Asked<Call> asked;
  CopyQuestion(call, asked);
  asked.deadline = call.deadline;
  asked.request_id = call.request_id;
  (inner_.*verb)(asked);
  waiting_.push_back(
      {.call = &call, .check = nullptr, .error = asked.error, .now = asked.now, .answers = {}});
}

void LateStore::Refund(store::RefundCall& call) {
  Later(call, &store::KeyStore::Refund);
}
void LateStore::Reset(store::ResetCall& call) {
  Later(call, &store::KeyStore::Reset);
}
void LateStore::Release(store::HoldCall& call) {
  Later(call, &store::KeyStore::Release);
}
void LateStore::Renew(store::HoldCall& call) {
  Later(call, &store::KeyStore::Renew);
}
void LateStore::Settle(store::SettleCall& call) {
  Asked<store::SettleCall> asked;
  CopyQuestion(call, asked);
  inner_.Settle(asked);
  waiting_.push_back({.call = &call,
                      .settle = &call,
                      .error = asked.error,
                      .now = asked.now,
                      .settled = asked.settled});
}
void LateStore::Ban(store::BanCall& call) {
  Later(call, &store::KeyStore::Ban);
}
void LateStore::Unban(store::BanCall& call) {
  Later(call, &store::KeyStore::Unban);
}
void LateStore::ListBans(store::BansCall& call) {
  Asked<store::BansCall> asked;
  inner_.ListBans(asked);
  waiting_.push_back(
      {.call = &call, .bans = &call, .error = asked.error, .now = asked.now, .banned = asked.bans});
}

}  // namespace sluice::support
