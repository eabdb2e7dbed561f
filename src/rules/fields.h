#pragma once

#include <span>
#include <string_view>

#include "rules/findings.h"
#include "rules/yaml_tree.h"

namespace sluice::rules {

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
  void RejectUnknown(std::span<const std::string_view> known, std::string_view what,
                     Reporter& report) const;

 private:
  const YamlNode* map_;
};

}  // namespace sluice::rules
