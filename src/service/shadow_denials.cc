#include "service/shadow_denials.h"

#include <algorithm>
#include <thread>
#include <tuple>

namespace sluice::service {

namespace {

// FNV-1a, with each text's length in it, so that two splits of one text differ; its low bits,
// which pick the set, are stirred at the end.
class Hash {
 public:
  void Add(std::string_view text) {
    AddNumber(text.size());
    for (const char c : text) {
      AddByte(static_cast<unsigned char>(c));
    }
  }
  void AddNumber(std::uint64_t number) {
    for (int i = 0; i < 8; ++i) {
      AddByte(static_cast<unsigned char>(number >> (8 * i)));
    }
  }
  [[nodiscard]] std::uint64_t get() const { return value_ ^ (value_ >> 29); }

 private:
  void AddByte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3U; }

  std::uint64_t value_ = 0xcbf29ce484222325U;
};

// Writes into `room` as long as there is any. A text that is cut ends where it was.
template <std::size_t N>
class Cut {
 public:
  explicit Cut(std::array<char, N>& room) : room_(room) {}
  void Add(std::string_view text) {
    const std::size_t taken = std::min(text.size(), N - size_);
    std::copy_n(text.data(), taken, room_.data() + size_);
    size_ += taken;
  }
  [[nodiscard]] std::uint8_t size() const { return static_cast<std::uint8_t>(size_); }

 private:
  static_assert(N <= 255);
  std::array<char, N>& room_;
  std::size_t size_ = 0;
};

}  // namespace

ShadowDenials::ShadowDenials() : sets_(std::make_unique<std::array<Set, kSets>>()) {}

void ShadowDenials::Count(std::string_view rule, std::span<const core::KeyPart> parts,
                          bool newly) noexcept {
  Hash hash;
  hash.Add(rule);
  for (const core::KeyPart& part : parts) {
    hash.Add(part.attribute);
    hash.AddNumber(static_cast<std::uint64_t>(part.type));
    hash.Add(part.value);
  }
  Set& set = (*sets_)[hash.get() % kSets];
  // A lock that is tried only. Its acquire pairs with the release at the end, here and in Keys().
  if (set.taken.exchange(true, std::memory_order_acquire)) {
    missed_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Entry* entry = &set.entries[0];
  for (Entry& candidate : set.entries) {
    if (candidate.denied != 0 && candidate.hash == hash.get()) {
      entry = &candidate;
      break;
    }
    if (candidate.denied < entry->denied) {
      entry = &candidate;
    }
  }
  if (entry->denied == 0 || entry->hash != hash.get()) {
    entry->hash = hash.get();
    entry->overcount = entry->denied;
    entry->newly_denied = 0;
    Cut name(entry->rule);
    name.Add(rule);
    entry->rule_bytes = name.size();
    Cut text(entry->text);
    for (const core::KeyPart& part : parts) {
      text.Add(text.size() == 0 ? "" : ", ");
      text.Add(part.attribute);
      text.Add("=");
      text.Add(part.value);
    }
    entry->text_bytes = text.size();
  }
  ++entry->denied;
  entry->newly_denied += newly ? 1 : 0;
  set.taken.store(false, std::memory_order_release);
}

std::vector<ShadowDenials::Key> ShadowDenials::Keys() const {
  std::vector<Key> keys;
  keys.reserve(kSets * kWays);
  for (Set& set : *sets_) {
    while (set.taken.exchange(true, std::memory_order_acquire)) {
      std::this_thread::yield();  // The other thread finishes soon.
    }
    for (const Entry& entry : set.entries) {
      if (entry.denied != 0) {
        keys.push_back({.rule = std::string(entry.rule.data(), entry.rule_bytes),
                        .text = std::string(entry.text.data(), entry.text_bytes),
                        .denied = entry.denied,
                        .newly_denied = entry.newly_denied,
                        .overcount = entry.overcount});
      }
    }
    set.taken.store(false, std::memory_order_release);
  }
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    return a.denied != b.denied ? a.denied > b.denied
                                : std::tie(a.rule, a.text) < std::tie(b.rule, b.text);
  });
  return keys;
}

}  // namespace sluice::service
