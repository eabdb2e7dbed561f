#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sluice::signing {

inline constexpr std::size_t kSecretBytes = 32;

// The material of keys. Never displayed.
using Secret = std::array<std::uint8_t, kSecretBytes>;

// Derives a secret from random bytes that are at least as hard to guess: HMAC-SHA256 of `label`
// with these as the key. The result discloses nothing about `from` or about secrets with other
// labels.
[[nodiscard]] Secret Derive(std::span<const std::uint8_t> from, std::string_view label);
[[nodiscard]] Secret Derive(std::string_view from, std::string_view label);

}  // namespace sluice::signing
