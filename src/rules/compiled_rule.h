#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/decision.h"
#include "sluice/result.h"

#include "core/quota.h"
#include "rules/attribute_table.h"
#include "rules/condition.h"
#include "rules/rule.h"

namespace sluice::rules {

// What a plan or an override changes of a rule's quota, resolved when the set is built: a
// burst that follows the rate is written out.
struct Numbers {
  bool unlimited = false;
  Units limit = 0;  // Buckets: the burst.
  Units rate = 0;

  void ApplyTo(core::Quota& quota) const {
    quota.unlimited = unlimited;
    quota.limit = limit;
    quota.rate = rate;
  }
};

struct Plan {
  Conditions match;
  Numbers numbers;
  Place place;
};

// What a request spends under a rule.
struct CostRule {
  enum class Kind : std::uint8_t { kRequest, kFixed, kAttribute };
  Kind kind = Kind::kRequest;
  Units units = 0;
  AttributeId attribute = 0;
};

// By the key's text: for one attribute its value, for several the values joined by ':' with
// '\' before every ':' and '\' in them.
using OverrideTable = TextMap<Numbers>;

// Appends one part of such a text.
void AppendKeyPart(std::string& text, std::string_view value, bool first);

// A rule's inside: how it matches and which numbers it gives. Rule is its outside.
struct CompiledRule {
  Conditions match;
  std::vector<AttributeId> key;  // As in Rule::key.
  CostRule cost;
  std::vector<Plan> plans;
  OverrideTable overrides;
  AttributeId priority = 0;             // The attribute that the quota's reserves read.
  std::vector<std::uint32_t> replaces;  // Rule numbers.
};

}  // namespace sluice::rules
