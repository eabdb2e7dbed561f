#pragma once

#include <span>
#include <string_view>

#include "rules/findings.h"
#include "yaml/tree.h"

namespace sluice::rules {

// A field name of other rate limiters, and what to write instead.
struct ForeignWord {
  std::string_view word;
  std::string_view remedy;  // "write burst".
};

// A map of a rule file whose keys are field names.
class Fields {
 public:
  explicit Fields(const yaml::Node& map) : map_(&map) {}

  [[nodiscard]] const yaml::Node& map() const { return *map_; }
  // nullptr if the field is absent. A field given twice has been reported; the first counts.
  [[nodiscard]] const yaml::Node* Get(std::string_view name) const;
  // The position of the field's name.
  [[nodiscard]] const yaml::Node& KeyOf(std::string_view name) const;

  // Reports every field that is not `known`. `what`: the kind of map ("rule", "plan"). `foreign`:
  // names that other rate limiters use for these fields.
  void RejectUnknown(std::span<const std::string_view> known, std::string_view what,
                     Reporter& report, std::span<const ForeignWord> foreign = {}) const;

 private:
  const yaml::Node* map_;
};

}  // namespace sluice::rules
