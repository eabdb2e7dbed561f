#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::rules {

// What stands for the values of a secret attribute wherever keys are kept, listed or written:
// "h1:" and 32 hex digits of BLAKE2s under a key. Equal values have equal texts on every node that
// has the same key, today and after a restart. Decision 0026 says what that protects from.
class ValueHash {
 public:
  // Without a secret of the operator's the key is one that everybody knows.
  ValueHash() = default;
  // `secret`: any bytes, at least kLeastSecretBytes to be one.
  explicit ValueHash(std::string_view secret);

  static constexpr std::size_t kLeastSecretBytes = 16;
  static constexpr std::size_t kTextBytes = 3 + 32;
  using Text = std::array<char, kTextBytes>;

  // Whether `text` has the form of what TextOf() gives: "h1:" and 32 lower-case hex digits.
  [[nodiscard]] static bool IsText(std::string_view text);

  // Allocates nothing. `attribute` keeps one value of two attributes apart.
  [[nodiscard]] Text TextOf(std::string_view attribute, std::string_view value) const;

  bool operator==(const ValueHash&) const = default;

 private:
  std::array<std::uint8_t, 32> key_{};
};

}  // namespace sluice::rules
