#pragma once

#include <cstddef>
#include <vector>

#include "rules/attribute_table.h"
#include "rules/findings.h"
#include "rules/rule_reader.h"
#include "rules/yaml_tree.h"

namespace sluice::rules {

inline constexpr std::size_t kMaxRules = 100'000;

// Reads one source's document in two steps, because a type declared by one source applies to the
// rules of all.
class DocumentReader {
 public:
  // `is_configuration`: the source is the daemon's configuration. It need not have rules, and its
  // other sections are read by the daemon.
  DocumentReader(const YamlNode& root, bool is_configuration, Reporter report)
      : root_(root), is_configuration_(is_configuration), report_(std::move(report)) {}

  // First step: top-level fields, and the types of attributes.
  void ReadAttributes(AttributeTable& attributes);
  // Second step, after the first step of every source.
  void ReadRules(AttributeTable& attributes, QuotaShelf& calendars, std::vector<RuleDraft>& drafts);

 private:
  void ReadAttribute(const YamlNode& name, const YamlNode& value, AttributeTable& attributes);
  void ReadNat64(const YamlNode& list, AttributeKind& kind);
  void ReadHash(const YamlNode& node, AttributeKind& kind);

  const YamlNode& root_;
  bool is_configuration_;
  Reporter report_;
};

}  // namespace sluice::rules
