#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/decision.h"
#include "sluice/result.h"

#include "core/ban.h"
#include "core/key.h"
#include "core/quota.h"

namespace sluice::rules {

enum class Mode : std::uint8_t { kEnforce, kShadow, kOff };
// What a rule does with a request that it applies to: count it, or without counting let it pass
// whatever the others say, or refuse it.
enum class Action : std::uint8_t { kLimit, kAllow, kDeny };
enum class OnMissing : std::uint8_t { kSkip, kDeny };
enum class OnStoreError : std::uint8_t { kAllow, kDeny, kLocal };

[[nodiscard]] std::string_view NameOf(Mode mode);
[[nodiscard]] std::string_view NameOf(OnStoreError policy);

// One attribute of a key pattern, in the order in which the pattern names them.
struct KeyAttribute {
  std::string name;
  core::AttributeType type = core::AttributeType::kText;
};

// What the rest of Sluice sees of a compiled rule. How it matches, its plans and its
// overrides stay inside the RuleSet. Immutable.
struct Rule {
  std::string id;
  std::vector<std::string> formerly;  // Ids that it had, the latest first.
  std::string source;                 // Where it came from: a file's path, "api", "etcd".
  Place place;
  std::uint32_t number = 0;  // Declaration order, from 0, over all sources.
  Mode mode = Mode::kEnforce;
  Action action = Action::kLimit;  // Else it has no key, and its quota says nothing.
  OnMissing on_missing = OnMissing::kSkip;
  OnStoreError on_store_error = OnStoreError::kAllow;
  core::Sync sync = core::Sync::kExact;
  bool states_cost = false;                             // It has the field cost.
  bool has_own_cost = false;                            // Whatever the call's is.
  std::string cost_attribute;                           // Whose value is the cost; "" if none is.
  Duration reservation_ttl = std::chrono::minutes(10);  // How long a reservation may be settled.
  std::optional<core::Ban> ban;
  Duration retry_jitter{};  // Retry-After is raised by up to this, evenly drawn.
  std::vector<KeyAttribute> key;
  std::string key_pattern;
  core::Quota quota;          // The rule's own numbers, without plan or override.
  Duration longest_refill{};  // Buckets: the longest, by these numbers or any plan's or override's.
};

}  // namespace sluice::rules
