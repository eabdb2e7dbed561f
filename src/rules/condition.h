#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <re2/re2.h>

#include "rules/attribute_table.h"
#include "rules/ip_address.h"

namespace sluice::rules {

// One accepted value of an attribute: a text, a prefix, an expression, a block of addresses.
struct Pattern {
  enum class Kind : std::uint8_t { kExact, kPrefix, kRegex, kCidr };

  Kind kind = Kind::kExact;
  std::string text;  // The text, the prefix without its star, the expression, the block.
  IpPrefix cidr;
  std::shared_ptr<const re2::RE2> regex;  // Always matched against the whole value.

  [[nodiscard]] bool Holds(const BoundAttribute& value) const;
  // Whether every value that `other` accepts is certainly accepted here. False may be wrong (two
  // regexes are not compared); true never is.
  [[nodiscard]] bool Covers(const Pattern& other) const;
  // Whether certainly no value is accepted by both.
  [[nodiscard]] bool Excludes(const Pattern& other) const;
  // As in the file: /login, /v1/*, {regex: ...}, {cidr: ...}.
  [[nodiscard]] std::string Text() const;
};

// One attribute and its accepted values. An absent attribute matches nothing.
struct Condition {
  AttributeId attribute = 0;
  std::vector<Pattern> any_of;

  [[nodiscard]] bool Holds(const BoundRequest& request) const;
  [[nodiscard]] bool Covers(const Condition& other) const;
  [[nodiscard]] bool Excludes(const Condition& other) const;
  [[nodiscard]] std::string Text() const;
};

// All must hold. At most one per attribute.
using Conditions = std::vector<Condition>;

[[nodiscard]] bool AllHold(const Conditions& conditions, const BoundRequest& request);
// Whether one of `narrow` accepts only values that `wide` certainly accepts.
[[nodiscard]] bool AnyCovered(const Condition& wide, const Conditions& narrow);
// Whether every request that fulfils `narrow` certainly fulfils `wide`. False may be wrong.
[[nodiscard]] bool Covers(const Conditions& wide, const Conditions& narrow);
// "endpoint: /login, method: POST".
[[nodiscard]] std::string TextOf(const Conditions& conditions, const AttributeTable& attributes);

}  // namespace sluice::rules
