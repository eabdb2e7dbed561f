#pragma once

#include <span>
#include <string_view>

#include "rules/findings.h"
#include "rules/yaml_tree.h"

namespace sluice::rules {

// What other rate limiters call a field, and what to write here.
struct ForeignWord {
  std::string_view word;
  std::string_view remedy;  // "write burst".
};

// A map of a rule file whose keys are field names.
class Fields {
 public:
  explicit Fields(const YamlNode& map) : map_(&map) {}

  [[nodiscard]] const YamlNode& map() const { return *map_; }
  // nullptr where the field is not given. A field given twice has been noted: the first counts.
  [[nodiscard]] const YamlNode* Get(std::string_view name) const;
  // The place of the field's name.
  [[nodiscard]] const YamlNode& KeyOf(std::string_view name) const;

  // Notes every field that is not `known`. `what`: whose field it is not ("rule", "plan").
  // `foreign`: words that other rate limiters have for our fields.
  void RejectUnknown(std::span<const std::string_view> known, std::string_view what,
                     Reporter& report, std::span<const ForeignWord> foreign = {}) const;

 private:
  const YamlNode* map_;
};

}  // namespace sluice::rules
