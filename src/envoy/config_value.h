#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "envoy/scalar_type.h"
#include "rules/findings.h"
#include "wire/struct_value.h"
#include "yaml/tree.h"

// Single values of a configuration file, read as envoyproxy/ratelimit reads them into its fields.
namespace sluice::envoy {

using rules::Reporter;

// The members of a map in order, with `<<` merged in. Of a key given twice, the last one.
using Members = std::vector<std::pair<const yaml::Node*, const yaml::Node*>>;
[[nodiscard]] Members MembersOf(const yaml::Node& map);

// Each returns the zero value for null, and reports `cannot unmarshal ...` for another type.
[[nodiscard]] std::string ReadText(const yaml::Node& node, Reporter& report);
[[nodiscard]] bool ReadBool(const yaml::Node& node, Reporter& report);
[[nodiscard]] std::uint32_t ReadUint32(const yaml::Node& node, Reporter& report);
// The items of a list of maps; none for null.
[[nodiscard]] std::vector<const yaml::Node*> ReadMaps(const yaml::Node& node,
                                                      std::string_view go_type, Reporter& report);
// Whether this is a map; null counts as an empty one.
[[nodiscard]] bool IsMapOrNull(const yaml::Node& node, std::string_view go_type, Reporter& report);

// Any map, unchanged. Reports a key that is not a text.
[[nodiscard]] wire::StructValue ReadMetadata(const yaml::Node& node, Reporter& report);

// How a value is named in messages: its text, or "[...]" and "map[...]".
[[nodiscard]] std::string ShownAs(const yaml::Node& node);

// Reports what a map must not have at any depth, except in `metadata`: unknown keys, lists of
// anything but maps, values of types that no field has. As in envoyproxy/ratelimit, a known key is
// accepted at every level, also where it has no meaning.
void CheckKeys(const yaml::Node& map, Reporter& report);

}  // namespace sluice::envoy
