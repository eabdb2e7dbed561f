#include "replay/key_ledger.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <xxhash.h>

#include "rules/compiled_rule.h"

namespace sluice::replay {

namespace {

constexpr std::size_t kChunkBytes = std::size_t{64} << 10;  // Longer than any key's text.

}  // namespace

KeyLedger::KeyLedger() : places_(1024) {}

std::size_t KeyLedger::Find(std::span<const core::KeyPart> parts) {
  std::string_view text;
  if (parts.size() == 1) {
    text = parts.front().value;
  } else {
    scratch_.clear();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      rules::AppendKeyPart(scratch_, parts[i].value, i == 0);
    }
    text = scratch_;
  }
  const std::uint64_t hash = XXH3_64bits(text.data(), text.size());
  std::size_t at = hash & (places_.size() - 1);
  for (; places_[at] != 0; at = (at + 1) & (places_.size() - 1)) {
    const std::size_t number = places_[at] - 1;
    if (records_[number].hash == hash && records_[number].text == text) {
      return number;
    }
  }
  records_.push_back({.text = Keep(text), .hash = hash, .window = {}});
  places_[at] = static_cast<std::uint32_t>(records_.size());
  if (records_.size() * 2 > places_.size()) {
    Grow();
  }
  return records_.size() - 1;
}

std::string_view KeyLedger::Keep(std::string_view text) {
  if (chunks_.empty() || chunk_used_ + text.size() > kChunkBytes) {
    chunks_.push_back(std::make_unique<char[]>(std::max(kChunkBytes, text.size())));
    chunk_used_ = 0;
  }
  char* const kept = chunks_.back().get() + chunk_used_;
  std::memcpy(kept, text.data(), text.size());
  chunk_used_ += text.size();
  return {kept, text.size()};
}

void KeyLedger::Grow() {
  places_.assign(places_.size() * 4, 0);
  for (std::size_t number = 0; number < records_.size(); ++number) {
    std::size_t at = records_[number].hash & (places_.size() - 1);
    while (places_[at] != 0) {
      at = (at + 1) & (places_.size() - 1);
    }
    places_[at] = static_cast<std::uint32_t>(number + 1);
  }
}

}  // namespace sluice::replay
