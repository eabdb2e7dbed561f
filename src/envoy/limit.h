#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/time.h"

#include "core/quota.h"
#include "rules/rule.h"
#include "telemetry/counter.h"
#include "wire/rls_request.h"
#include "wire/struct_value.h"

namespace sluice::envoy {

// What a counter is called in statistics: the domain, and a part per level.
using StatName = std::vector<std::string>;

// RateLimitResponse.RateLimit.Unit, by its numbers on the wire.
enum class Unit : std::uint8_t {
  kUnknown = 0,
  kSecond = 1,
  kMinute = 2,
  kHour = 3,
  kDay = 4,
  kMonth = 5,
  kYear = 6,
  kWeek = 7,
};
inline constexpr std::uint32_t kMostUnit = 7;

// A month is 30 days, a year 365: windows of these lengths begin at multiples of them since the
// epoch. 0 of kUnknown.
[[nodiscard]] Duration LengthOf(Unit unit);
// "MINUTE".
[[nodiscard]] std::string_view NameOf(Unit unit);
// In any case of letters; kUnknown by no name.
[[nodiscard]] std::optional<Unit> UnitNamed(std::string_view name);

// What a quota of `requests` per `period` is in the nearest unit: the shortest one that is a
// multiple of the period, with as many times the requests; else the longest, rounded down.
struct PerUnit {
  std::uint32_t requests = 0;
  Unit unit = Unit::kUnknown;
};
[[nodiscard]] PerUnit NearestUnit(std::int64_t requests, Duration period);

// Statistics of one limit, or of one value under it.
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
  // As responses report it. A quota with a period is reported in the nearest unit.
  std::uint32_t requests_per_unit = 0;
  Unit unit = Unit::kUnknown;
  std::string name;
  std::string policy;                 // What RateLimit-Policy calls it: PolicyNameOf().
  std::vector<std::string> replaces;  // Names of limits that are dropped where this applies.
  bool shadow_mode = false;
  bool quota_mode = false;
  bool detailed_metric = false;
  rules::OnStoreError on_store_error = rules::OnStoreError::kFail;
  core::Sync sync = core::Sync::kExact;
  wire::StructValue metadata;  // An object, or null.
  Counters counters;
};

// The name of a limit in RateLimit-Policy and RateLimit: its own, or its descriptor's path below
// the domain ("remote_address"), in a list with period and algorithm ("remote_address-60s-gcra").
// Printable ASCII, as structured fields require.
[[nodiscard]] std::string PolicyNameOf(const Limit& limit, std::string_view domain, bool of_list);

// Whether an override has a valid unit. Others are ignored; envoyproxy/ratelimit ends its process.
[[nodiscard]] bool IsHonoured(const wire::RlsOverride& override);

// The limit of an override in a descriptor with these entries. Its names are made of the keys
// alone: the client chooses the values.
[[nodiscard]] Limit LimitOf(const wire::RlsOverride& override, std::string_view domain,
                            std::span<const wire::RlsEntry> entries);

}  // namespace sluice::envoy
