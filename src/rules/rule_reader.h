#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/result.h"

#include "rules/attribute_table.h"
#include "rules/compiled_rule.h"
#include "rules/condition.h"
#include "rules/findings.h"
#include "rules/quota_reader.h"
#include "rules/rule.h"
#include "yaml/tree.h"

namespace sluice::rules {

// The attributes that a key pattern names, in its order: "user:{user_id}:{endpoint}" names user_id
// and endpoint. The text around them is only for people: the key is the tuple of the values. A
// pattern without attributes is one key for all requests. Errors (without position): an empty
// pattern, unbalanced or nested braces, an empty or invalid name, a repeated name, more than
// core::kMaxKeyParts names.
[[nodiscard]] Result<std::vector<std::string>> ParseKeyPattern(std::string_view pattern);

inline constexpr std::size_t kMaxPatternsPerCondition = 10'000;

// Reads a `match`: a map from attribute to what its value must be. A text matches exactly, or as a
// prefix with a trailing * (a star elsewhere is an ordinary character). {regex: ...} is an RE2
// expression for the whole value, {cidr: ...} a block of addresses or a list of blocks. A list
// accepts any of its values. For an attribute of type ip, an address is the block of that one
// address. Reports problems; invalid parts are left out.
[[nodiscard]] Conditions ReadMatch(const yaml::Node& node, AttributeTable& attributes,
                                   Reporter& report);

// Reads a rule's `overrides` into `table`. `key`: the rule's key attributes. A map key has their
// values; several are joined by ':', with '\' before a ':' or '\' in a value. Addresses are
// converted to the form in keys. `quotas` must have read the rule.
void ReadOverrides(const yaml::Node& node, std::span<const AttributeId> key,
                   const AttributeTable& attributes, QuotaReader& quotas, Reporter& report,
                   OverrideTable& table);

// Warns about plans that can never match, because of an earlier plan or of the rule's own match.
// Warns only if that is certain.
void ReviewPlans(const CompiledRule& rule, const AttributeTable& attributes, Findings& findings);

inline constexpr std::size_t kMaxPlans = 1'000;
inline constexpr std::size_t kMaxOverrides = 1'000'000;

// A rule as read from its text, before references to other rules are resolved.
struct RuleDraft {
  Rule rule;
  CompiledRule compiled;
  std::vector<std::pair<std::string, Place>> replaces;
  std::vector<Place> formerly_places;  // Of each id in rule.formerly.
};

// Reads one rule and reports every problem in it. Invalid parts are left out of the draft. Its id
// is "" if it has no valid id.
[[nodiscard]] RuleDraft ReadRule(const yaml::Node& node, AttributeTable& attributes,
                                 QuotaShelf& calendars, Reporter& report);

inline constexpr std::size_t kMaxRules = 100'000;

// Reads one source's document in two steps, because a type declared by one source applies to the
// rules of all.
class DocumentReader {
 public:
  // `is_configuration`: the source is the daemon's configuration. It need not have rules, and its
  // other sections are read by the daemon.
  DocumentReader(const yaml::Node& root, bool is_configuration, Reporter report)
      : root_(root), is_configuration_(is_configuration), report_(std::move(report)) {}

  // First step: top-level fields, and the types of attributes.
  void ReadAttributes(AttributeTable& attributes);
  // Second step, after the first step of every source.
  void ReadRules(AttributeTable& attributes, QuotaShelf& calendars, std::vector<RuleDraft>& drafts);

 private:
  void ReadAttribute(const yaml::Node& name, const yaml::Node& value, AttributeTable& attributes);
  void ReadNat64(const yaml::Node& list, AttributeKind& kind);
  void ReadHash(const yaml::Node& node, AttributeKind& kind);

  const yaml::Node& root_;
  bool is_configuration_;
  Reporter report_;
};

}  // namespace sluice::rules
