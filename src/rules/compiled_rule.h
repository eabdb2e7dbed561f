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

// The numbers by which a plan or an override replaces a rule's, resolved when the set is built: a
// burst that follows the rate is filled in.
struct Numbers {
  bool unlimited = false;
  int line = 0;     // Where they are written, in the rule's source.
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

// How a rule determines a request's cost.
struct CostRule {
  enum class Kind : std::uint8_t { kRequest, kFixed, kAttribute };
  Kind kind = Kind::kRequest;
  Units units = 0;
  AttributeId attribute = 0;
};

// By the key's values (core/key_codec.h): for one attribute its value.
using OverrideTable = TextMap<Numbers>;

// The private part of a rule: how it matches and which numbers apply. Rule is the public part.
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
