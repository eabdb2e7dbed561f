#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sluice::core {

// How a value came to its text, so that "192.0.2.1" as text and as an address are two keys.
enum class AttributeType : std::uint8_t { kText, kIp };

struct KeyPart {
  std::string_view attribute;
  AttributeType type = AttributeType::kText;
  std::string_view value;  // Any bytes, zero to kMaxValueBytes; addresses in canonical form.
};

inline constexpr std::size_t kMaxKeyParts = 8;
inline constexpr std::size_t kMaxValueBytes = 1024;
inline constexpr std::size_t kMaxFormerIds = 8;

// What a limit is counted for: the rule and the typed tuple of its key attributes. The store adds
// what shapes the state (algorithm, window, segments, zone; of throttle not the window), so that a
// change of those starts fresh, and hashes or escapes as it needs.
struct KeyView {
  std::string_view rule;
  // The rule's former ids, the latest first. What a key has under one of them moves to `rule`
  // when the key is touched. Alive as long as the call.
  std::span<const std::string> formerly;
  std::span<const KeyPart> parts;
};

}  // namespace sluice::core
