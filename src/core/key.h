#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::core {

// How a value came to its text, so that "192.0.2.1" as text and as an address are two keys.
enum class AttributeType : std::uint8_t { kText, kIp };

struct KeyPart {
  std::string_view attribute;
  AttributeType type = AttributeType::kText;
  std::string_view value;  // Any bytes, zero to kMaxValueBytes; addresses in canonical form.

  bool operator==(const KeyPart&) const = default;
};

inline constexpr std::size_t kMaxKeyParts = 8;
inline constexpr std::size_t kMaxValueBytes = 1024;
inline constexpr std::size_t kMaxFormerIds = 8;

// What a limit is counted for: the rule and the typed tuple of its key attributes. A store adds the
// shape of the state (core/shape.h), so that a change of the shape starts fresh. How a key becomes
// bytes is said in core/key_codec.h alone.
struct KeyView {
  std::string_view rule;
  // The rule's former ids, the latest first. What a key has under one of them moves to `rule`
  // when the key is touched. Alive as long as the call.
  std::span<const std::string> formerly;
  std::span<const KeyPart> parts;
};

// A key that owns its texts, without former ids. Its room is used again: once warm, Assign()
// allocates nothing.
class Key {
 public:
  Key() = default;
  explicit Key(const KeyView& key) { Assign(key); }
  Key(const Key& other) { Assign(other.view()); }
  Key(Key&& other) noexcept { Swap(other); }
  Key& operator=(const Key& other) {
    if (this != &other) {
      Assign(other.view());
    }
    return *this;
  }
  Key& operator=(Key&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~Key() = default;

  // `key` views no text of this one.
  void Assign(const KeyView& key);

  // Valid until this is assigned to or destroyed; moving the key leaves it valid.
  [[nodiscard]] KeyView view() const { return {.rule = rule(), .formerly = {}, .parts = parts_}; }
  [[nodiscard]] std::string_view rule() const { return {text_.data(), rule_bytes_}; }
  [[nodiscard]] std::span<const KeyPart> parts() const { return parts_; }

  bool operator==(const Key& other) const {
    return rule() == other.rule() && parts_ == other.parts_;
  }

 private:
  void Swap(Key& other) noexcept;

  // Vectors and no string: their bytes stay where they are when the key is moved.
  std::vector<char> text_;      // The rule, then attribute and value of each part.
  std::vector<KeyPart> parts_;  // Into text_.
  std::size_t rule_bytes_ = 0;
};

}  // namespace sluice::core
