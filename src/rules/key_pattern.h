#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

namespace sluice::rules {

// The attributes that a key pattern names, in its order: "user:{user_id}:{endpoint}" names
// user_id and endpoint. The text around them is for people: the key is the tuple of the values.
// A pattern without attributes is one key that all requests share. Errors (no place set):
// an empty pattern, unbalanced or nested braces, an empty or impossible name, one given twice,
// more than core::kMaxKeyParts of them.
[[nodiscard]] Result<std::vector<std::string>> ParseKeyPattern(std::string_view pattern);

}  // namespace sluice::rules
