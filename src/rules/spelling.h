#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sluice::rules {

// ", did you mean period?" if `word` is a likely misspelling of one of `known` (at most a third of
// its letters wrong, and at least one), otherwise "". Of equally near words the first wins.
[[nodiscard]] std::string DidYouMean(std::string_view word,
                                     std::span<const std::string_view> known);

// The same, or if no word is near, a list of the known words: " (known: api_rate, login)"; "" if
// there are none, and only the first few of many.
[[nodiscard]] std::string KnownOnes(std::string_view word, std::span<const std::string_view> known);

// "enforce, shadow or off".
[[nodiscard]] std::string OneOf(std::span<const std::string_view> words);

}  // namespace sluice::rules
