#include "core/key.h"

#include <utility>

namespace sluice::core {

void Key::Assign(const KeyView& key) {
  std::size_t size = key.rule.size();
  for (const KeyPart& part : key.parts) {
    size += part.attribute.size() + part.value.size();
  }
  text_.clear();
  text_.reserve(size);  // So that no view is outdated by a later text.
  parts_.clear();
  const auto keep = [this](std::string_view text) {
    const std::size_t at = text_.size();
    text_.insert(text_.end(), text.begin(), text.end());
    return std::string_view(text_.data() + at, text.size());
  };
  rule_bytes_ = keep(key.rule).size();
  for (const KeyPart& part : key.parts) {
    parts_.push_back(
        {.attribute = keep(part.attribute), .type = part.type, .value = keep(part.value)});
  }
}

void Key::Swap(Key& other) noexcept {
  std::swap(text_, other.text_);
  std::swap(parts_, other.parts_);
  std::swap(rule_bytes_, other.rule_bytes_);
}

}  // namespace sluice::core
