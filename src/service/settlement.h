#pragma once

#include <cstdint>
#include <vector>

#include "sluice/attribute.h"
#include "sluice/decision.h"

#include "core/key.h"
#include "rules/rule.h"
#include "service/operation_parts.h"
#include "store/key_store.h"
#include "store/receipt.h"

namespace sluice::service {

// What one rule charged for a request, and the result of its settlement.
struct Charge {
  // In, as in the request's verdict.
  core::Key key;
  store::Charge made;
  // Out. kNotFound: an unknown charge, a rule that no longer exists, or one of another shape.
  store::StoreError error = store::StoreError::kNone;
  Units settled = 0;
};

// Settles a request at its actual cost, each charge once.
class Settlement {
 public:
  enum class Kind : std::uint8_t {
    kSettle,  // Of a reservation.
    kRefund,  // Takes the charges back whole.
  };

  explicit Settlement(Operation& operation) : parts_(operation) {}

  Kind kind = Kind::kSettle;
  std::vector<Charge> charges;  // In and out.
  // In. `costs`: of rules that count an attribute, what that one was in the end; `cost` where it is
  // not named and for all other rules. A rule with its own cost keeps what it charged.
  Units cost = 0;
  std::vector<Attribute> costs;

  // For LimiterService.
  void Start(const OperationParts::Target& target);

 private:
  void Settle(Charge& charge, const OperationParts::Target& target);
  [[nodiscard]] Units CostUnder(const rules::Rule& rule) const;

  OperationParts parts_;
};

}  // namespace sluice::service
