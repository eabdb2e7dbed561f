#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::rules {

// The canonical text of a host name: without a port, ASCII letters in lower case, no dot at the end
// (RFC 9110, 4.2.3; RFC 3986, 3.2.2). An IPv6 literal becomes its shortest text in brackets (RFC
// 5952), and one that maps an IPv4 address becomes that address: "[2001:DB8:0::1]:443" and
// "2001:db8::1" become "[2001:db8::1]". Letters beyond ASCII and names in punycode are unchanged:
// "bücher.example" and "xn--bcher-kva.example" are two names; clients send the second.
//
// Returns a view of `host` if it is already canonical, otherwise of `room`. Allocates only if
// `room` has to grow. Idempotent. Pure; accepts any text.
[[nodiscard]] std::string_view CanonicalHost(std::string_view host, std::string& room);

// Replaces the values of a secret attribute wherever keys are stored, listed or written: "h1:" and
// 32 hex digits of BLAKE2s with a key. Equal values have equal texts on every node with the same
// key, also after a restart. Decision 0026 says what that protects from.
class ValueHash {
 public:
  // Without an operator's secret, the key is public.
  ValueHash() = default;
  // `secret`: any bytes, at least kLeastSecretBytes.
  explicit ValueHash(std::string_view secret);

  static constexpr std::size_t kLeastSecretBytes = 16;
  static constexpr std::size_t kTextBytes = 3 + 32;
  using Text = std::array<char, kTextBytes>;

  // Whether `text` has the form of TextOf()'s result: "h1:" and 32 lower-case hex digits.
  [[nodiscard]] static bool IsText(std::string_view text);

  // Allocates nothing. With `attribute`, the same value of two attributes has two hashes.
  [[nodiscard]] Text TextOf(std::string_view attribute, std::string_view value) const;

  bool operator==(const ValueHash&) const = default;

 private:
  std::array<std::uint8_t, 32> key_{};
};

}  // namespace sluice::rules
