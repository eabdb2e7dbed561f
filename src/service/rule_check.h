#pragma once

#include "service/decide_call.h"

namespace sluice::service {

class Operation;

// The verb of every request that asks whether it may pass, by the rules in force.
class RuleCheck final : public DecideCall {
 public:
  explicit RuleCheck(Operation& operation) : operation_(operation) {}

  // As a new one, but for the room, which it keeps.
  void Clear() {
    attributes = {};
    cost = Cost{};
    only_rule = {};
    peek = false;
    want_receipts = false;
    absent_cost = rules::AbsentCost::kIsAnError;
    secrets = rules::Secrets::kAreValues;
  }

 private:
  void OnVerdict() noexcept override;

  Operation& operation_;
};

}  // namespace sluice::service
