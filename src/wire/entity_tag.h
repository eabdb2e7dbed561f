#pragma once

#include <cstdint>
#include <string_view>

#include "wire/http_request.h"

namespace sluice::wire {

// How two entity tags are compared (RFC 9110, 8.8.3.2).
enum class TagComparison : std::uint8_t {
  kStrong,  // If-Match: a weak tag (W/"...") equals none.
  kWeak,    // If-None-Match: W/ is passed over.
};

// Whether the fields `name` of the request, all of them, name `tag`: a list of entity tags that
// has it, or "*", which names whatever there is. `tag` is strong, with its quotes; "" for what does
// not exist, which nothing names. A list that is none (RFC 9110, 8.8.3) names nothing from there
// on.
[[nodiscard]] bool NamesEntity(const HttpRequest& request, std::string_view name,
                               std::string_view tag, TagComparison comparison);

}  // namespace sluice::wire
