#pragma once

#include <span>
#include <string>
#include <string_view>

#include "envoy/match.h"
#include "wire/rls_request.h"

namespace sluice::envoy {

// Appends the name of the counter of one descriptor: `domain|key=value|key=value`, where `\`
// stands before each of | = \ inside of a text. So no two descriptors have one name, whatever
// their texts. `shared[i]`, where there is one and it is not empty, stands for the i-th value.
// A name that is longer than a store takes (core::kMaxValueBytes) is its SHA-256.
void AppendCounterText(std::string& out, std::string_view domain,
                       std::span<const wire::RlsEntry> entries,
                       std::span<const std::string_view> shared);

// In place of what stands in `out` from `begin` on, if that is longer than a store takes.
void ShortenCounterText(std::string& out, std::size_t begin);

// Appends envoyproxy/ratelimit's name of the same counter, without the start of its window that
// ends it: `prefix`, then `domain_key_value_key_value_`. Of any length, and texts with `_` in them
// may make one name of two descriptors: so it is there.
void AppendOldCounterText(std::string& out, std::string_view prefix, std::string_view domain,
                          std::span<const wire::RlsEntry> entries, const Match& match);

}  // namespace sluice::envoy
