#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/rls_request.h"

namespace sluice::envoy {

struct Match;

// What a counter is called: the domain, and a part per level.
using StatName = std::vector<std::string>;

// As statistics have it: colons and bars are underscores, and so are the dots of an IPv4 address.
[[nodiscard]] std::string StatPart(std::string_view text);

// The name under which a match counts whose limit has value_to_metric or detailed_metric on its
// way: with the values that came, where they are asked for and not shared.
[[nodiscard]] StatName NameWithValues(std::string_view domain, const Match& match,
                                      std::span<const wire::RlsEntry> entries);

// The name under which an override counts: with all values.
[[nodiscard]] StatName NameOfOverride(std::string_view domain,
                                      std::span<const wire::RlsEntry> entries);

}  // namespace sluice::envoy
