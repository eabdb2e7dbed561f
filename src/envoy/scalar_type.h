#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "yaml/tree.h"

namespace sluice::envoy {

// What envoyproxy/ratelimit's YAML library (gopkg.in/yaml.v2, YAML 1.1) takes a scalar for. It
// decides which files that service accepts, so it decides here too.
enum class ScalarType : std::uint8_t { kNull, kBool, kInt, kFloat, kTimestamp, kText };

// Of a node that is neither list nor map. Quoted text is kText.
[[nodiscard]] ScalarType TypeOf(const yaml::Node& node);
// "!!int", as messages have it.
[[nodiscard]] std::string_view TagOf(ScalarType type);

// Of kBool and kInt. Integers are decimal, or 0x.., 0o.., 0b.., 0..; underscores are passed over.
[[nodiscard]] bool TruthOf(std::string_view text);
[[nodiscard]] std::optional<std::int64_t> IntegerOf(std::string_view text);
// Of kInt and kFloat.
[[nodiscard]] double NumberOf(std::string_view text);

}  // namespace sluice::envoy
