#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sluice/decision.h"
#include "sluice/result.h"

#include "core/ban.h"
#include "core/key.h"
#include "core/quota.h"

namespace sluice::rules {

// The kind of source of a rule. If several have a rule with the same id, only the one listed last
// here is active.
enum class Origin : std::uint8_t { kFile, kEtcd, kApi };

// By the source's name: "etcd:..." and "api:..." are what they say, all others are files.
[[nodiscard]] constexpr Origin OriginOf(std::string_view source) {
  return source.starts_with("api:")    ? Origin::kApi
         : source.starts_with("etcd:") ? Origin::kEtcd
                                       : Origin::kFile;
}

// The name that operators see.
[[nodiscard]] constexpr std::string_view NameOf(Origin origin) {
  return origin == Origin::kApi ? "api" : origin == Origin::kEtcd ? "etcd" : "file";
}

enum class Mode : std::uint8_t { kEnforce, kShadow, kOff };
// What a rule does with a request that it applies to: count it, allow it whatever other rules
// decide, or refuse it. The last two count nothing.
enum class Action : std::uint8_t { kLimit, kAllow, kDeny };
enum class OnMissing : std::uint8_t { kSkip, kDeny };
// What stands in for a store that gives no answer. kFail, of limits of Envoy's domains alone: the
// request fails, and whoever asked decides.
enum class OnStoreError : std::uint8_t { kAllow, kDeny, kLocal, kFail };

[[nodiscard]] std::string_view NameOf(Mode mode);
[[nodiscard]] std::string_view NameOf(OnStoreError policy);

// One attribute of a key pattern, in the order in which the pattern names them.
struct KeyAttribute {
  std::string name;
  core::AttributeType type = core::AttributeType::kText;
};

// The public part of a compiled rule. How it matches, its plans and its overrides are private to
// the RuleSet. Immutable.
struct Rule {
  std::string id;
  std::vector<std::string> formerly;  // Its former ids, the latest first.
  std::string source;                 // Its source: a file's path, "api", "etcd".
  Place place;
  std::uint32_t number = 0;  // Declaration order, from 0, over all sources.
  Mode mode = Mode::kEnforce;
  Action action = Action::kLimit;  // Otherwise it has no key, and its quota is unused.
  OnMissing on_missing = OnMissing::kSkip;
  OnStoreError on_store_error = OnStoreError::kAllow;
  core::Sync sync = core::Sync::kExact;
  bool states_cost = false;    // It has the field cost.
  bool has_own_cost = false;   // Independent of the call's cost.
  std::string cost_attribute;  // The attribute that holds the cost; "" if none.
  Duration reservation_ttl = std::chrono::minutes(10);  // How long a reservation may be settled.
  std::optional<core::Ban> ban;
  Duration retry_jitter{};  // Retry-After is increased by a uniform random time up to this.
  std::vector<KeyAttribute> key;
  std::string key_pattern;
  core::Quota quota;          // The rule's own numbers, without plan or override.
  Duration longest_refill{};  // Buckets: the longest, by these numbers or any plan's or override's.
};

// Modes set by operators at run time. They are not part of the rule set, so they survive a reload,
// and changing a mode builds no new set. A plain value that is replaced as a whole.
struct ModeOverrides {
  std::optional<Mode> all;  // The kill switch: overrides everything else.
  std::unordered_map<std::string, Mode> by_rule;

  [[nodiscard]] Mode Effective(const Rule& rule) const;
};

// A quota's numbers as text, as in `sluice explain`: "100 per 1m, at most 20 at once", "10 at the
// same time, hold_ttl 30s", "5 per day", "unlimited".
[[nodiscard]] std::string QuotaText(const core::Quota& quota);

}  // namespace sluice::rules
