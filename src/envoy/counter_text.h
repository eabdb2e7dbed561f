#pragma once

#include <span>
#include <string>
#include <string_view>

#include "wire/rls_request.h"

namespace sluice::envoy {

// Appends the name of the counter of one descriptor: `domain|key=value|key=value`, where `\`
// stands before each of | = \ inside of a text. So no two descriptors have one name, whatever
// their texts. `shared[i]`, where there is one and it is not empty, stands for the i-th value.
// A name that is longer than a store takes (core::kMaxValueBytes) is its SHA-256.
void AppendCounterText(std::string& out, std::string_view domain,
                       std::span<const wire::RlsEntry> entries,
                       std::span<const std::string_view> shared);

}  // namespace sluice::envoy
