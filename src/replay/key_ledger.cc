#include "replay/key_ledger.h"

#include <algorithm>
#include <cstring>

#include <xxhash.h>

#include "core/key_codec.h"

namespace sluice::replay {

void FrequentTexts::Add(std::string_view text) {
  text = text.substr(0, kMostBytes);
  const auto found = std::ranges::find(counters_, text, &Top::text);
  if (found != counters_.end()) {
    ++found->count;
  } else if (counters_.size() < kCounters) {
    counters_.push_back({.text = std::string(text), .count = 1});
  } else {
    for (Top& counter : counters_) {
      --counter.count;
    }
    std::erase_if(counters_, [](const Top& counter) { return counter.count == 0; });
  }
}

FrequentTexts::Top FrequentTexts::top() const {
  const auto top = std::ranges::max_element(counters_, {}, &Top::count);
  return top == counters_.end() ? Top{} : *top;
}

void KeyProfile::Add(std::string_view status, std::string_view endpoint,
                     std::string_view user_agent) {
  ++requests_;
  const bool known = status.size() == 3 && status.front() >= '1' && status.front() <= '5';
  ++statuses_[known ? static_cast<std::size_t>(status.front() - '0') : 0];
  if (endpoint.data() != nullptr) {
    endpoints_.Add(endpoint);
  }
  if (user_agent.data() != nullptr) {
    user_agents_.Add(user_agent);
  }
}

namespace {

constexpr std::size_t kChunkBytes = std::size_t{64} << 10;  // Longer than the text of any key.

std::uint32_t TagOf(std::uint64_t hash) {
  return static_cast<std::uint32_t>(hash >> 32U);
}

}  // namespace

KeyLedger::KeyLedger() : places_(1024) {}

std::string_view KeyLedger::TextOf(std::span<const core::KeyPart> parts) {
  if (parts.size() == 1) {
    return parts.front().value;
  }
  scratch_.clear();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    core::AppendKeyValue(scratch_, parts[i].value, i == 0);
  }
  return scratch_;
}

std::uint64_t KeyLedger::HashOf(std::span<const core::KeyPart> parts) {
  const std::string_view text = TextOf(parts);
  return XXH3_64bits(text.data(), text.size());
}

const KeyRecord* KeyLedger::Guess(std::uint64_t hash) const {
  const Place place = places_[hash & (places_.size() - 1)];
  return place.number != 0 && place.tag == TagOf(hash) ? &(*this)[place.number - 1] : nullptr;
}

void KeyLedger::PrefetchPlace(std::uint64_t hash) const {
  __builtin_prefetch(&places_[hash & (places_.size() - 1)]);
}

void KeyLedger::PrefetchRecord(std::uint64_t hash) const {
  if (const KeyRecord* record = Guess(hash); record != nullptr) {
    __builtin_prefetch(record);
    __builtin_prefetch(&record->demand);
  }
}

void KeyLedger::PrefetchText(std::uint64_t hash) const {
  if (const KeyRecord* record = Guess(hash); record != nullptr) {
    __builtin_prefetch(record->text.data());
    record->demand.Prefetch();
  }
}

// Open addressing with linear probing, at most half full. A place has the number of a record and
// the upper half of its hash. The tag rejects nearly all other keys without reading their records,
// which would be a cache miss each. Records never move: they are in chunks, and places refer to
// numbers.
std::size_t KeyLedger::Find(std::span<const core::KeyPart> parts, std::uint64_t hash) {
  const std::string_view text = TextOf(parts);
  std::size_t at = hash & (places_.size() - 1);
  for (; places_[at].number != 0; at = (at + 1) & (places_.size() - 1)) {
    const std::size_t number = places_[at].number - 1;
    if (places_[at].tag == TagOf(hash) && (*this)[number].text == text) {
      return number;
    }
  }
  if (size_ % kRecordsPerChunk == 0) {
    records_.push_back(std::make_unique<KeyRecord[]>(kRecordsPerChunk));
  }
  const std::size_t number = size_++;
  (*this)[number].text = Keep(text);
  (*this)[number].hash = hash;
  places_[at] = {.number = static_cast<std::uint32_t>(size_), .tag = TagOf(hash)};
  if (size_ * 2 > places_.size()) {
    Grow();
  }
  return number;
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
  places_.assign(places_.size() * 4, {});
  for (std::size_t number = 0; number < size_; ++number) {
    const std::uint64_t hash = (*this)[number].hash;
    std::size_t at = hash & (places_.size() - 1);
    while (places_[at].number != 0) {
      at = (at + 1) & (places_.size() - 1);
    }
    places_[at] = {.number = static_cast<std::uint32_t>(number + 1), .tag = TagOf(hash)};
  }
}

}  // namespace sluice::replay
