#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sluice::signing {

inline constexpr std::size_t kSecretBytes = 32;

// What keys are made of. Never shown to anybody.
using Secret = std::array<std::uint8_t, kSecretBytes>;

// Of random bytes that are at least as hard to guess: HMAC-SHA256 of `label` under them. Who knows
// the result learns nothing of `from`, nor of what it gives under another label.
[[nodiscard]] Secret Derive(std::span<const std::uint8_t> from, std::string_view label);
[[nodiscard]] Secret Derive(std::string_view from, std::string_view label);

}  // namespace sluice::signing
