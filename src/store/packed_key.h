#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/key.h"

namespace sluice::store {

// A key that owns its texts: of a ban, whose key people want to read.
struct KeptKey {
  struct Part {
    std::string attribute;
    core::AttributeType type = core::AttributeType::kText;
    std::string value;
  };
  std::string rule;
  std::vector<Part> parts;

  // Views into this.
  [[nodiscard]] std::vector<core::KeyPart> Views() const;
};

// The longest text that a ban keeps of its key; of a longer one the rule alone.
inline constexpr std::size_t kPackedBytes = 2048;

// Writes the key into `into`, or as much of it as goes. Returns the bytes. Allocates nothing.
[[nodiscard]] std::size_t PackKey(const core::KeyView& key, std::span<char, kPackedBytes> into);

// nullopt if these are no such bytes.
[[nodiscard]] std::optional<KeptKey> UnpackKey(std::string_view bytes);

}  // namespace sluice::store
