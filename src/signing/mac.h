#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

using EVP_MAC_CTX = struct evp_mac_ctx_st;

namespace sluice::signing {

// HMAC-SHA256 under one key. Immutable, so any number of threads may use it at once.
class Mac {
 public:
  using Code = std::array<std::uint8_t, 32>;

  // `key` may be of any length but 0.
  explicit Mac(std::span<const std::uint8_t> key);

  // Of any bytes.
  [[nodiscard]] Code Of(std::string_view bytes) const;

 private:
  struct Free {
    void operator()(EVP_MAC_CTX* context) const noexcept;
  };
  std::unique_ptr<EVP_MAC_CTX, Free> keyed_;  // Has processed the key only.
};

// Whether both are equal, in constant time.
[[nodiscard]] bool SameBytes(std::string_view a, std::string_view b);

inline constexpr std::size_t kSecretBytes = 32;

// The material of keys. Never displayed.
using Secret = std::array<std::uint8_t, kSecretBytes>;

// Derives a secret from random bytes that are at least as hard to guess: HMAC-SHA256 of `label`
// with these as the key. The result discloses nothing about `from` or about secrets with other
// labels.
[[nodiscard]] Secret Derive(std::span<const std::uint8_t> from, std::string_view label);
[[nodiscard]] Secret Derive(std::string_view from, std::string_view label);

}  // namespace sluice::signing
