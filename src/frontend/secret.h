#pragma once

#include <cstddef>
#include <string_view>

namespace sluice::frontend {

// Whether `given` is `secret`. Every byte is looked at, so that the time taken tells nothing
// about how many were right; that of the length is no secret.
[[nodiscard]] inline bool IsSecret(std::string_view given, std::string_view secret) {
  if (given.size() != secret.size()) {
    return false;
  }
  unsigned difference = 0;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    difference |= static_cast<unsigned char>(given[i] ^ secret[i]);
  }
  return difference == 0;
}

}  // namespace sluice::frontend
