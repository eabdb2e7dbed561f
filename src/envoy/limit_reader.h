#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "envoy/limit.h"
#include "rules/findings.h"
#include "yaml/tree.h"

namespace sluice::envoy {

// Reads a descriptor's `rate_limit`. `path` is the descriptor's. What is wrong goes to `report`;
// then the result is not to be used.
//
// Beside the fields of envoyproxy/ratelimit it takes ours: `period: 30s` instead of a unit,
// `algorithm` and `burst` for a limit that is judged by one of our algorithms (docs/semantics.md),
// `on_store_error: fail | allow | deny | local`, `sync: exact | lease | local`.
[[nodiscard]] std::unique_ptr<Limit> ReadLimit(const yaml::Node& node, const std::string& path,
                                               rules::Reporter& report);

// Reads a descriptor's `rate_limits`, a list that only Sluice supports: each of 1 to kMostLimits as
// above, no two of one period and algorithm, as what is counted is kept by these. None of them is
// unlimited.
inline constexpr std::size_t kMostLimits = 16;
[[nodiscard]] std::vector<std::unique_ptr<Limit>> ReadLimits(const yaml::Node& list,
                                                             const std::string& path,
                                                             rules::Reporter& report);

}  // namespace sluice::envoy
