#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "sluice/decision.h"

#include "rules/findings.h"
#include "rules/yaml_tree.h"

// Readers of what a configuration is made of. Each reports what is wrong, with the remedy.
namespace sluice::app {

// A field of a map, and how its value is read. A map's table of these is the one place that knows
// its fields: what loads, what a message suggests and what it lists come from it.
struct ConfigField {
  std::string_view name;
  std::function<void(const rules::YamlNode&)> read;
  bool is_refused = false;  // Its reader says what to write instead: it is not suggested.
};

// Reads every member of `map` by its field. A null member counts as left out, unless it is one that
// guards something (auth, tls, client_ca, ...): then it is reported. So is an unknown one, with
// what it may be meant for. `what` is how a message calls the map.
void ReadFields(const rules::YamlNode& map, std::string_view what,
                std::span<const ConfigField> fields, rules::Reporter& report);

void EachItem(const rules::YamlNode& list, std::string_view what, rules::Reporter& report,
              const std::function<void(const rules::YamlNode&)>& read);

// A count that has nothing to do with a quota, and so none of the remedies of one.
void ReadCount(const rules::YamlNode& node, std::string_view field, Units least, Units most,
               rules::Reporter& report, std::size_t& count);

}  // namespace sluice::app
