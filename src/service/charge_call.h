#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rules/rule.h"
#include "service/fallback.h"
#include "service/service_metrics.h"
#include "store/key_store.h"
#include "telemetry/counter.h"

// The decision path that all front ends share. A matcher finds the limits that apply to a request:
// rules/ for rules, envoy/ for Envoy's descriptors. From there on there is one path:
//
//   matcher -> ChargeCall::Add -> ChargeBatch -> store -> ChargeCall::OnAnswered -> owner.OnCharged
//
// This file decides what happens without the store, to denials, and to charges of a denied request,
// and it measures the time. Nothing here allocates once warm, locks or logs;
// tests/unit/service/allocation_test.cc tests that.
namespace sluice::service {

// Where the charges of one service go. Outlives them.
struct DecisionPath {
  store::KeyStore& store;
  Fallback* fallback = nullptr;               // For a store that can be unreachable.
  telemetry::Histogram* durations = nullptr;  // Of decisions; nullptr: they are not measured.
};

// The checks of one request. It is the store's call itself: `deadline`, `atomicity` and `peek` are
// set by the owner; `answers` and `now` are read once it is decided.
//
// Owned by value (ChargeCallOf) by whoever decides requests, and reused from request to request.
// Alive and unmoved from Send() until the owner's OnCharged(). One thread.
class ChargeCall : public store::CheckCall {
 public:
  // Begins a request, without checks.
  void Clear() {
    checks_.clear();
    policies_.clear();
    answers_.clear();
    checks = {};
    answers = {};
  }
  // What `check` points to stays alive until OnCharged(). At most store::kMaxChecksPerCall checks.
  void Add(const store::Check& check, rules::OnStoreError policy) {
    checks_.push_back(check);
    policies_.push_back(policy);
    answers_.emplace_back();
  }
  // Replaces Clear() and Add() for one check that its owner keeps for all requests. Allowed where
  // the store gives no answer.
  void Borrow(const store::Check& check, store::CheckAnswer& answer) {
    checks = {&check, 1};
    answers = {&answer, 1};
  }
  [[nodiscard]] std::span<store::Check> mutable_checks() { return checks_; }
  [[nodiscard]] std::size_t size() const { return checks_.size(); }

  // Sends it alone: another step came between it and its batch, or it never had one. Without checks
  // it is decided at once.
  void Send(const DecisionPath& path);
  // Decides it by the failure policies alone, because the store did not answer an earlier call of
  // the request.
  void DecideWithout(const DecisionPath& path, store::StoreError why);

  // When its batch began; unset where decisions are not timed.
  [[nodiscard]] std::chrono::steady_clock::time_point started() const { return started_; }

  // Out, from OnCharged() on. Each of `answers` has a decision, the store's or the policy's; unless
  // failed(): a check with the policy kFail got no answer, and nothing is decided.
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] Outcome outcome(std::size_t i) const {
    return room_.unanswered.empty() ? OutcomeOf(answers[i].decision.allowed, checks[i].shadow)
                                    : OutcomeOfUnanswered(i);
  }

 protected:
  [[nodiscard]] bool HasUnanswered() const {
    return error != store::StoreError::kNone ||
           std::ranges::any_of(answers, [](const store::CheckAnswer& answer) {
             return answer.error != store::StoreError::kNone;
           });
  }
  // Decides what the store did not. If the request is then denied as a whole, takes back what the
  // store charged for it. `kept`: what the quotas point into.
  void FallBack(const std::shared_ptr<const void>& kept);
  // Remembers denials and measures the time.
  void Conclude();

 private:
  friend class ChargeBatch;

  void Prepare(const DecisionPath& path);
  [[nodiscard]] rules::OnStoreError PolicyOf(std::size_t i) const {
    return policies_.empty() ? rules::OnStoreError::kAllow : policies_[i];
  }
  void TakeBackAll(const std::shared_ptr<const void>& kept);
  [[nodiscard]] Outcome OutcomeOfUnanswered(std::size_t i) const;

  const DecisionPath* path_ = nullptr;
  std::uint64_t batch_ = 0;  // Its batch on this thread; 0: none, it is not measured.
  std::chrono::steady_clock::time_point started_;
  bool failed_ = false;
  // Room, reused. The spans of the store's call view it, unless they are borrowed.
  std::vector<store::Check> checks_;
  std::vector<rules::OnStoreError> policies_;
  std::vector<store::CheckAnswer> answers_;
  FallbackRoom room_;
};

// A charge as a member of its owner, which has two functions for it:
//
//   void OnCharged() noexcept;                    The charge is decided. The owner may end here.
//   std::shared_ptr<const void> ChargeKeeper();   Keeps alive what its checks' quotas point into.
//
// Both are bound at compile time, so that the one virtual call of an answer is the store's.
template <class Owner>
class ChargeCallOf final : public ChargeCall {
 public:
  explicit ChargeCallOf(Owner& owner) : owner_(owner) {}

  void OnAnswered() noexcept override {
    if (HasUnanswered()) [[unlikely]] {
      FallBack(owner_.ChargeKeeper());
    }
    Conclude();
    owner_.OnCharged();
  }

 private:
  Owner& owner_;
};

// The charges of one turn of a loop. The store is asked for all of them together, and their
// duration is measured as a whole. A clock reading costs as much as a decision, so there is one
// before and one after the batch; a later answer reads the clock by itself. Batches of a thread
// nest if a decision makes its receiver submit another request.
class ChargeBatch {
 public:
  explicit ChargeBatch(const DecisionPath& path);
  ChargeBatch(const ChargeBatch&) = delete;
  ChargeBatch& operator=(const ChargeBatch&) = delete;
  ~ChargeBatch();

  // Sends the charge with the others. Without checks it is decided at once.
  void Add(ChargeCall& charge) { Add(charge, path_); }
  // The same for a charge that takes another path but is measured like this one.
  void Add(ChargeCall& charge, const DecisionPath& path);
  // The charge is measured from now on, and sends itself later, after another step.
  void Join(ChargeCall& charge);
  // Sends a store call that is not a charge, together with these.
  void Ask(store::CheckCall& call) { Ask(call, path_.store); }
  // Sends those that wait. Call it after the last one.
  void Send();

 private:
  friend class ChargeCall;

  void Ask(store::CheckCall& call, store::KeyStore& store);

  // Enough to hide the memory's latency, and few enough for the stack. More are sent in pieces.
  static constexpr std::size_t kAtOnce = 256;

  const DecisionPath& path_;
  ChargeBatch* const outer_;
  const std::uint64_t number_;
  std::uint64_t answered_ = 0;
  std::chrono::steady_clock::time_point started_;
  store::KeyStore* store_;  // The calls that wait.
  std::size_t count_ = 0;
  std::array<store::CheckCall*, kAtOnce> asked_;  // NOLINT: only the first `count_` are read.
};

}  // namespace sluice::service
