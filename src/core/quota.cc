#include "core/quota.h"

#include <array>
#include <cstddef>

namespace sluice::core {

namespace {

// In the order of the enum.
constexpr std::array<std::string_view, kAlgorithmCount> kNames{
    "fixed_window",   "sliding_window_log", "sliding_window_counter",
    "sliding_window", "token_bucket",       "gcra",
    "leaky_bucket",   "concurrency"};

}  // namespace

std::string_view NameOf(Algorithm algorithm) {
  return kNames[static_cast<std::size_t>(algorithm)];
}

std::optional<Algorithm> AlgorithmNamed(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) {
      return static_cast<Algorithm>(i);
    }
  }
  return std::nullopt;
}

}  // namespace sluice::core
