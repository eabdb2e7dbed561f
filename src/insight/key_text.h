#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/key.h"

// A rule's key as bytes of bounded size, from which its parts can be read again. Two keys have the
// same bytes only if they are equal; of those that are cut, up to a collision of 64 bits.
//
//   byte    1 if the key is cut, else 0
//   8 bytes a digest of the whole key, only if it is cut
//   a part  the type, then the attribute's and the value's bytes, each behind its length
namespace sluice::insight {

inline constexpr std::size_t kMostKeyBytes = 512;
using KeyRoom = std::array<char, kMostKeyBytes>;

// Writes `parts` into `room`. Allocates nothing. The result views `room`.
[[nodiscard]] std::string_view WriteKey(std::span<const core::KeyPart> parts, KeyRoom& room);

struct ReadKey {
  std::vector<core::KeyPart> parts;  // Views the bytes.
  bool is_cut = false;               // Then the last value is too short, and parts may be missing.
};
// Requires bytes that WriteKey() made.
[[nodiscard]] ReadKey PartsOf(std::string_view key);
// "user_id=u_42"; several attributes with ", " between; a cut key ends with "...".
[[nodiscard]] std::string TextOf(const ReadKey& key);

}  // namespace sluice::insight
