#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "wire/json_problem.h"

namespace sluice::wire {

// Cuts a JSON array into its elements, each as it stands in `json`, so that one that is wrong
// does not spoil the others: what an element says is for its own reader. Errors: no array, more
// than `most` elements, brackets that do not close, bytes behind the array. Allocates only in
// `elements`, which is replaced. Pure.
[[nodiscard]] tl::expected<void, JsonProblem> SplitJsonArray(
    std::string_view json, std::size_t most, std::vector<std::string_view>& elements);

}  // namespace sluice::wire
