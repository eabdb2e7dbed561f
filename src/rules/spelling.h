#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sluice::rules {

// ", did you mean period?" where one of `known` is a slip of the pen away from `word` (a third
// of its letters wrong at most, at least one), else "". Ties go to the earlier one.
[[nodiscard]] std::string DidYouMean(std::string_view word,
                                     std::span<const std::string_view> known);

// The same, or where no word is near a list of the known ones: " (known: api_rate, login)"; ""
// where there are none, and of many the first few.
[[nodiscard]] std::string KnownOnes(std::string_view word, std::span<const std::string_view> known);

// "enforce, shadow or off".
[[nodiscard]] std::string OneOf(std::span<const std::string_view> words);

}  // namespace sluice::rules
