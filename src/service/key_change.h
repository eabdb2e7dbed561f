#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/attribute.h"
#include "sluice/decision.h"

#include "rules/rule_set.h"
#include "service/operation_parts.h"
#include "store/key_store.h"

namespace sluice::service {

// What an operator does by hand to the keys of every rule that applies to `attributes`, shadow
// rules among them. A secret attribute may be given by its hash.
class KeyChange {
 public:
  enum class Kind : std::uint8_t {
    kRefund,  // Gives `units` back to each, clamped so that no key gets more than its whole quota.
    kReset,   // Makes each key fresh: not banned either.
    kUnban,   // Lifts each key's ban; `touched` says how many there were.
  };

  explicit KeyChange(Operation& operation) : parts_(operation) {}

  // In.
  Kind kind = Kind::kReset;
  Attributes attributes;
  // Not empty: the key of this rule, whether its match holds or not. A name that no rule has is an
  // error.
  std::string_view only_rule;
  Units units = 0;  // 0 to kMaxUnits, whatever the rule's own `cost` says.
  // Out.
  std::size_t touched = 0;                             // Keys that the store has changed.
  store::StoreError error = store::StoreError::kNone;  // The last failure among the others.
  std::string request_error;                           // Not empty: the attributes were wrong.

  // For LimiterService.
  void Start(const OperationParts::Target& target);

 private:
  void FindRules(const ActiveRules& active);
  void Change(const rules::AppliedRule& applied, const OperationParts::Target& target);

  rules::Matches matches_;
  OperationParts parts_;
};

// All active bans.
class BanList final : public store::BansCall {
 public:
  explicit BanList(Operation& operation) : operation_(operation) {}
  void OnAnswered() noexcept override;

 private:
  Operation& operation_;
};

}  // namespace sluice::service
