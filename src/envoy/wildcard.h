#pragma once

#include <string_view>

namespace sluice::envoy {

[[nodiscard]] constexpr bool HasWildcard(std::string_view text) {
  return text.find('*') != std::string_view::npos;
}

// Whether `text` is what `pattern` says, where each `*` stands for any bytes or none and nothing
// is escaped. Takes time linear in both.
[[nodiscard]] bool MatchesWildcard(std::string_view pattern, std::string_view text);

}  // namespace sluice::envoy
