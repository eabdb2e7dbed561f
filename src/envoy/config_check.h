#pragma once

#include "rules/findings.h"
#include "rules/yaml_tree.h"

namespace sluice::envoy {

// Notes what a map may not have at any depth, `metadata` apart: keys that no part of a
// configuration knows, lists of anything but maps, values of types that no field has. As in
// envoyproxy/ratelimit a known key passes at every level, whether or not it means something there.
void CheckKeys(const rules::YamlNode& map, rules::Reporter& report);

}  // namespace sluice::envoy
