#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sluice/attribute.h"
#include "sluice/decision.h"

#include "rules/rule_set.h"
#include "service/active_rules.h"
#include "service/fallback.h"
#include "service/service_metrics.h"
#include "service/verdict.h"
#include "store/key_store.h"

namespace sluice::service {

// One request on its way through LimiterService::Decide(). Owned by its sender, who reuses
// it from request to request, so that nothing is allocated once warm; alive and unmoved
// from Decide() until OnVerdict(). One thread.
class DecideCall {
 public:
  DecideCall() : asked_(*this) {}
  DecideCall(const DecideCall&) = delete;
  DecideCall& operator=(const DecideCall&) = delete;
  virtual ~DecideCall() = default;

  // In. The bytes that `attributes` views stay alive until OnVerdict().
  Attributes attributes;
  Cost cost;  // 0 to kMaxUnits: front ends refuse what is not.
  // Not empty: only this rule is asked, if it applies; a name that no rule has is an error of
  // the request. Alive as `attributes` are.
  std::string_view only_rule;
  bool peek = false;  // The verdict of such a check, with what is left now; changes nothing.
  bool want_receipts = false;  // Of all that is charged: what a refund or settlement must name.
  // Whether `cost` stands in where a rule takes its cost from an attribute that is absent: for
  // a status, which asks what is left. A check without that attribute cannot be judged.
  rules::AbsentCost absent_cost = rules::AbsentCost::kIsAnError;
  rules::Secrets secrets = rules::Secrets::kAreValues;  // Hashes: for operators alone.
  store::StoreCall::Deadline deadline = store::StoreCall::Deadline::max();

  // Out. What it points to is good until OnVerdict() returns.
  Verdict verdict;

  // Called once, on the thread that sent the call, during Decide() or later. The last thing
  // done with the call: the sender may send it again or destroy it here.
  virtual void OnVerdict() noexcept = 0;

 private:
  friend class LimiterService;

  // The call's side towards the store.
  class Asked final : public store::CheckCall {
   public:
    explicit Asked(DecideCall& call) : call_(&call) {}
    void OnAnswered() noexcept override { call_->Finish(); }

   private:
    DecideCall* call_;
  };

  // Finds out what to ask. False if there is nothing to ask the store: then Finish() at once.
  [[nodiscard]] bool Begin(ActiveRulesPin& pin, ServiceMetrics& metrics, Fallback* fallback,
                           store::KeyStore& store);
  // Makes the verdict of what the store said, counts it, hands it over.
  void Finish() noexcept;

  void MakeVerdict();
  // The store's answer to check `i`, or what stands for it where the store gave none.
  [[nodiscard]] RuleDecision Answered(const rules::AppliedRule& applied, std::size_t i);
  [[nodiscard]] bool IsAnswered(std::size_t i) const {
    return asked_.error == store::StoreError::kNone &&
           answers_[i].error == store::StoreError::kNone;
  }
  [[nodiscard]] bool IsAllAnswered() const {
    return asked_.error == store::StoreError::kNone &&
           std::ranges::all_of(answers_, [](const store::CheckAnswer& answer) {
             return answer.error == store::StoreError::kNone;
           });
  }
  // Decides all checks that the store did not answer, of which there is one at least. Where one of
  // them denies, what the store charged for the others is taken back.
  void FallBack();
  void CountOutcome(const RuleDecision& decision, Outcome outcome) noexcept;

  Asked asked_;
  ActiveRulesPin* pin_ = nullptr;  // Held while the call is under way.
  ServiceMetrics* metrics_ = nullptr;
  Fallback* fallback_ = nullptr;
  store::KeyStore* store_ = nullptr;
  std::uint64_t batch_timer_ = 0;  // Which Decide() of this thread sent it: see batch_timer.h.
  std::chrono::steady_clock::time_point started_;
  // Room, reused.
  rules::Matches matches_;
  std::vector<store::Check> checks_;
  std::vector<store::CheckAnswer> answers_;
  FallbackRoom room_;
};

}  // namespace sluice::service
