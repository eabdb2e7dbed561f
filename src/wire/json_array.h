#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "wire/json_problem.h"

namespace sluice::wire {

// Splits a JSON array into its elements, each as it is in `json`. Elements are not parsed, so an
// invalid one does not affect the others. Errors: not an array, more than `most` elements, unclosed
// brackets, bytes after the array. Allocates only in `elements`, which is replaced. Pure.
[[nodiscard]] tl::expected<void, JsonProblem> SplitJsonArray(
    std::string_view json, std::size_t most, std::vector<std::string_view>& elements);

}  // namespace sluice::wire
