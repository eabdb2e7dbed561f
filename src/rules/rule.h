#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/decision.h"
#include "sluice/result.h"

#include "core/key.h"
#include "core/quota.h"

namespace sluice::rules {

enum class Mode : std::uint8_t { kEnforce, kShadow, kOff };
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
  std::string formerly;  // "" if none.
  std::string source;    // Where it came from: a file's path, "api", "etcd".
  Place place;
  std::uint32_t number = 0;  // Declaration order, from 0, over all sources.
  Mode mode = Mode::kEnforce;
  OnMissing on_missing = OnMissing::kSkip;
  OnStoreError on_store_error = OnStoreError::kAllow;
  Duration retry_jitter{};  // Retry-After is raised by up to this, evenly drawn.
  std::vector<KeyAttribute> key;
  std::string key_pattern;
  core::Quota quota;  // The rule's own numbers, without plan or override.
};

}  // namespace sluice::rules
