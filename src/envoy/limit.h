#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/quota.h"
#include "envoy/stat_name.h"
#include "envoy/unit.h"
#include "telemetry/counter.h"
#include "wire/struct_value.h"

namespace sluice::envoy {

// What is answered when the store gives no answer.
enum class OnStoreError : std::uint8_t {
  kFail,  // The call fails: whoever asked has a setting of its own for that (failure_mode_deny).
  kAllow,
  kDeny,
  kLocal,
};

// Counters of one limit, or of what one value has used of it.
enum class Count : std::uint8_t {
  kTotalHits,
  kOverLimit,
  kNearLimit,
  kWithinLimit,
  kShadowMode,
  kOverLimitWithLocalCache,
  kTotalNegativeHits,
};
inline constexpr std::size_t kCounts = 7;
static_assert(kCounts <= telemetry::CounterGroup::kWidth);
using Counters = std::shared_ptr<telemetry::CounterGroup>;

// The `rate_limit` of one descriptor, with the flags beside it. Immutable once read.
struct Limit {
  std::string path;    // "domain.key1_value1.key2": in messages and /rlconfig.
  StatName stat_name;  // Domain, then a part per level: what it counts under.
  // By which it is judged: an attempt window, unless it names an algorithm.
  core::Quota quota;
  bool unlimited = false;
  // What answers say of it. A quota of our algorithms is told in the nearest unit.
  std::uint32_t requests_per_unit = 0;
  Unit unit = Unit::kUnknown;
  std::string name;
  std::string policy;                 // What RateLimit-Policy calls it: limit_fields.h.
  std::vector<std::string> replaces;  // Names of limits that are dropped where this applies.
  bool shadow_mode = false;
  bool quota_mode = false;
  bool detailed_metric = false;
  OnStoreError on_store_error = OnStoreError::kFail;
  core::Sync sync = core::Sync::kExact;
  wire::StructValue metadata;  // An object, or null if there is none.
  Counters counters;
};

}  // namespace sluice::envoy
