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

// Calls `read(field, value)` for every member whose name is known.
void EachField(const rules::YamlNode& map, std::string_view what,
               std::span<const std::string_view> known, rules::Reporter& report,
               const std::function<void(std::string_view, const rules::YamlNode&)>& read);

void EachItem(const rules::YamlNode& list, std::string_view what, rules::Reporter& report,
              const std::function<void(const rules::YamlNode&)>& read);

// A count that has nothing to do with a quota, and so none of the remedies of one.
void ReadCount(const rules::YamlNode& node, std::string_view field, Units least, Units most,
               rules::Reporter& report, std::size_t& count);

}  // namespace sluice::app
