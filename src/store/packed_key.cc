#include "store/packed_key.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace sluice::store {

namespace {

// Each text with its length in two bytes before it; a part also with its type.
class Packer {
 public:
  explicit Packer(std::span<char, kPackedBytes> into) : into_(into) {}

  bool Put(std::string_view text) {
    if (text.size() > kPackedBytes - 2 - std::min(size_, kPackedBytes - 2)) {
      return false;
    }
    into_[size_] = static_cast<char>(text.size() & 255U);
    into_[size_ + 1] = static_cast<char>(text.size() >> 8U);
    std::ranges::copy(text, into_.begin() + static_cast<std::ptrdiff_t>(size_ + 2));
    size_ += 2 + text.size();
    return true;
  }
  bool Put(const core::KeyPart& part) {
    const char type = part.type == core::AttributeType::kIp ? 'i' : 't';
    return Put(std::string_view(&type, 1)) && Put(part.attribute) && Put(part.value);
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::span<char, kPackedBytes> into_;
  std::size_t size_ = 0;
};

// False if nothing, or too little, is left.
bool Take(std::string_view& rest, std::string_view& text) {
  if (rest.size() < 2) {
    return false;
  }
  const std::size_t size = static_cast<unsigned char>(rest[0]) |
                           (std::size_t{static_cast<unsigned char>(rest[1])} << 8U);
  rest.remove_prefix(2);
  if (rest.size() < size) {
    return false;
  }
  text = rest.substr(0, size);
  rest.remove_prefix(size);
  return true;
}

}  // namespace

std::vector<core::KeyPart> KeptKey::Views() const {
  std::vector<core::KeyPart> views;
  views.reserve(parts.size());
  for (const Part& part : parts) {
    views.push_back({.attribute = part.attribute, .type = part.type, .value = part.value});
  }
  return views;
}

std::size_t PackKey(const core::KeyView& key, std::span<char, kPackedBytes> into) {
  Packer packer(into);
  if (!packer.Put(key.rule)) {
    return 0;
  }
  const std::size_t rule_alone = packer.size();
  for (const core::KeyPart& part : key.parts) {
    if (!packer.Put(part)) {
      return rule_alone;
    }
  }
  return packer.size();
}

std::optional<KeptKey> UnpackKey(std::string_view bytes) {
  KeptKey key;
  std::string_view text;
  if (!Take(bytes, text)) {
    return std::nullopt;
  }
  key.rule = text;
  while (!bytes.empty()) {
    std::string_view type;
    std::string_view attribute;
    std::string_view value;
    if (!Take(bytes, type) || type.size() != 1 || !Take(bytes, attribute) || !Take(bytes, value)) {
      return std::nullopt;
    }
    key.parts.push_back(
        {.attribute = std::string(attribute),
         .type = type == "i" ? core::AttributeType::kIp : core::AttributeType::kText,
         .value = std::string(value)});
  }
  return key;
}

}  // namespace sluice::store
