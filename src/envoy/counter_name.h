#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "envoy/descriptor_tree.h"
#include "envoy/limit.h"
#include "envoy/settings.h"
#include "wire/rls_request.h"

namespace sluice::envoy {

// Appends Sluice's name of a descriptor's counter: `domain|key=value|key=value`. A `\` escapes each
// of | = \ within a text, so that no two descriptors have the same name. `shared[i]`, unless it is
// absent or empty, replaces the i-th value. A name above core::kMaxValueBytes is replaced by its
// SHA-256.
void AppendCounterText(std::string& out, std::string_view domain,
                       std::span<const wire::RlsEntry> entries,
                       std::span<const std::string_view> shared);

// Appends envoyproxy/ratelimit's name of the same counter, without the start of the window at its
// end: `prefix`, then `domain_key_value_key_value_`. It has any length, and two descriptors whose
// texts contain `_` may have the same name, as in that service.
void AppendOldCounterText(std::string& out, std::string_view prefix, std::string_view domain,
                          std::span<const wire::RlsEntry> entries, const Match& match);

// Appends the name in the store of the counter of `limit`, which `match` found for these entries.
// Limits of a list share Sluice's name: a key with another window or algorithm is another key.
// envoyproxy/ratelimit's name has the start of a window, but not its length, and windows of several
// lengths may start at once: the names of a list's limits have the length as well.
void AppendCounterName(std::string& out, const Settings& settings, std::string_view domain,
                       std::span<const wire::RlsEntry> entries, const Match& match,
                       const Limit& limit);

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
