#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "config_map.h"
#include "rules/findings.h"
#include "yaml/tree.h"

// Readers of what a configuration is made of. Each reports what is wrong, with the remedy.
namespace sluice::app {

// How the value of one field is read.
struct FieldReader {
  std::string_view name;
  std::function<void(const yaml::Node&)> read;
};

// Reads every member of `node`, a map of the kind `map`, by its reader; there is one for each of
// the map's fields. A null member counts as left out, unless it is a guard: then it is reported. So
// is an unknown one, with what it may be meant for.
void ReadFields(const yaml::Node& node, const ConfigMap& map, std::span<const FieldReader> readers,
                rules::Reporter& report);

void EachItem(const yaml::Node& list, std::string_view what, rules::Reporter& report,
              const std::function<void(const yaml::Node&)>& read);

// A count within its range, which has nothing to do with a quota, and so none of the remedies of
// one.
void ReadCount(const yaml::Node& node, const ConfigField& field, rules::Reporter& report,
               std::size_t& count);

// The position among the field's words of the word that stands there.
[[nodiscard]] std::optional<std::size_t> ReadWord(const yaml::Node& node, const ConfigField& field,
                                                  rules::Reporter& report);
// The same as a value of an enum that has these words in this order.
template <class Enum>
void ReadEnum(const yaml::Node& node, const ConfigField& field, rules::Reporter& report,
              Enum& value) {
  if (const auto word = ReadWord(node, field, report)) {
    value = static_cast<Enum>(*word);
  }
}

}  // namespace sluice::app
