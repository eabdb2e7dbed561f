#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/attribute.h"
#include "sluice/decision.h"

#include "insight/insight.h"
#include "rules/rule_set.h"
#include "service/active_rules.h"
#include "service/charge_call.h"
#include "service/service_metrics.h"
#include "service/verdict.h"

namespace sluice::service {

class Operation;

// The verb of every request that asks whether it may pass, by the active rules. It keeps its memory
// from request to request, so that nothing is allocated once warm.
class RuleCheck {
 public:
  explicit RuleCheck(Operation& operation) : operation_(operation) {}
  RuleCheck(const RuleCheck&) = delete;
  RuleCheck& operator=(const RuleCheck&) = delete;

  // Resets all but the memory.
  void Clear() {
    attributes = {};
    cost = Cost{};
    only_rule = {};
    peek = false;
    want_receipts = false;
    absent_cost = rules::AbsentCost::kIsAnError;
    secrets = rules::Secrets::kAreValues;
  }

  // In. The bytes that `attributes` views stay alive until the operation is complete.
  Attributes attributes;
  Cost cost;  // 0 to kMaxUnits: front ends refuse what is not.
  // Not empty: only this rule is asked, if it applies; a name that no rule has is an error of
  // the request. Alive as `attributes` are.
  std::string_view only_rule;
  // Returns the verdict of such a check with the current numbers, and changes nothing.
  bool peek = false;
  bool want_receipts = false;  // Of all that is charged: what a refund or settlement must name.
  // Whether `cost` replaces the cost of a rule whose cost attribute is absent: for a status, which
  // asks what is left. A check without that attribute cannot be judged.
  rules::AbsentCost absent_cost = rules::AbsentCost::kIsAnError;
  rules::Secrets secrets = rules::Secrets::kAreValues;  // Hashes: for operators alone.

  // Out. What it points to is valid until the completion returns.
  Verdict verdict;

 private:
  friend class LimiterService;
  friend class ChargeCallOf<RuleCheck>;

  // Finds the rules that apply, and fills the charge with their checks.
  void Match(ActiveRulesPin& pin, ServiceMetrics& metrics, insight::Insight* insight);
  void RefuseRequest(std::string why);
  void OnCharged() noexcept;
  void MakeVerdict();
  void Record(bool any_denied) noexcept;
  [[nodiscard]] RuleDecision Answered(const rules::AppliedRule& applied, std::size_t& next);
  [[nodiscard]] std::shared_ptr<const void> ChargeKeeper() const { return (**pin_).rules; }

  Operation& operation_;
  ActiveRulesPin* pin_ = nullptr;  // Held while the check is under way.
  ServiceMetrics* metrics_ = nullptr;
  insight::Insight* insight_ = nullptr;
  rules::Matches matches_;  // Room, reused; the charge's checks view it.
  ChargeCallOf<RuleCheck> charge_{*this};
};

}  // namespace sluice::service
