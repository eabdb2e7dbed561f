#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sluice/decision.h"

namespace sluice::app {

struct ConfigMap;

// What counts where a field is left out.
struct Fallback {
  std::string_view text;
  bool is_literal = false;  // The text is valid YAML; otherwise it is a description.

  constexpr Fallback() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): so that tables read well.
  constexpr Fallback(const char* words) : text(words) {}
  constexpr Fallback(std::string_view literal, bool may_be_written)
      : text(literal), is_literal(may_be_written) {}
};

// One field of a configuration. All that is said of it anywhere comes from here: what loads, what a
// message suggests, docs/configuration-reference.md and what `sluice init` writes.
struct ConfigField {
  std::string_view name;
  std::string_view type;  // "" where words, a range or a map say it.
  Fallback fallback;
  std::string_view meaning;                   // One sentence, without its full stop.
  std::span<const std::string_view> words{};  // The only values that it has.
  std::optional<Units> least{};               // Of a count; with `most`.
  std::optional<Units> most{};
  const ConfigMap* map = nullptr;  // Its value is such a map,
  bool is_list = false;            // or a list of them.
  // Left out, it leaves a listener open or a connection in clear: an empty value is a slip.
  bool is_guard = false;
  bool is_refused =
      false;  // Its reader says what to write instead: nothing suggests or describes it.
};

// A map of a configuration: what messages call it, and its fields.
struct ConfigMap {
  std::string_view called;
  std::span<const ConfigField> fields;

  // Requires that there is one of this name.
  [[nodiscard]] const ConfigField& operator[](std::string_view name) const;
};

extern const ConfigMap kConfiguration;  // The whole file.
extern const ConfigMap kListenerMap;
extern const ConfigMap kListenerTlsMap;
extern const ConfigMap kListenerAuthMap;
extern const ConfigMap kProxyMap;
extern const ConfigMap kProxyPathsMap;
extern const ConfigMap kStoreMap;
extern const ConfigMap kRedisMap;
extern const ConfigMap kSentinelMap;
extern const ConfigMap kRedisTlsMap;
extern const ConfigMap kLeaseMap;
extern const ConfigMap kTableMap;
extern const ConfigMap kRuleSourceMap;
extern const ConfigMap kApiMap;
extern const ConfigMap kEtcdMap;
extern const ConfigMap kEtcdTlsMap;
extern const ConfigMap kEtcdAuthMap;
extern const ConfigMap kEnvoyMap;
extern const ConfigMap kIdempotencyMap;
extern const ConfigMap kInsightMap;
extern const ConfigMap kDecisionsMap;
extern const ConfigMap kDecisionLogMap;
extern const ConfigMap kLogMap;
extern const ConfigMap kOtlpMap;

// docs/configuration-reference.md: every field with its type, default, range and meaning.
[[nodiscard]] std::string ConfigurationReference();

// What `sluice init` writes as sluice.yaml.
[[nodiscard]] std::string FirstConfiguration();

}  // namespace sluice::app
