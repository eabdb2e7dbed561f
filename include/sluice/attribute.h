#pragma once

#include <span>
#include <string_view>

namespace sluice {

// One fact about a request, as text: user_id=u_42. A number is its decimal text, a boolean its
// word. Views: the caller keeps the bytes alive until the request is answered.
struct Attribute {
  std::string_view name;
  std::string_view value;
};

using Attributes = std::span<const Attribute>;

}  // namespace sluice
