#include "envoy/over_limit_cache.h"

#include <algorithm>
#include <array>
#include <bit>

#include <xxhash.h>

#include "base/random.h"

namespace sluice::envoy {

namespace {

// Clients cannot choose counters that share a set.
std::uint64_t DrawSeed() {
  std::array<std::uint8_t, sizeof(std::uint64_t)> bytes{};
  base::FillWithSecretBytes(bytes);
  return std::bit_cast<std::uint64_t>(bytes);
}

}  // namespace

OverLimitCache::OverLimitCache(std::size_t bytes)
    : seed_(DrawSeed()),
      set_count_(bytes == 0 ? 0 : std::max<std::size_t>(bytes / sizeof(Set), 1)),
      sets_(set_count_ == 0 ? nullptr : std::make_unique<Set[]>(set_count_)) {}  // NOLINT

std::uint64_t OverLimitCache::HashOf(std::string_view counter, const Window& window) const {
  // Each fits 32 bits until 2106.
  const std::uint64_t of_window = static_cast<std::uint64_t>(window.start_s) ^
                                  (static_cast<std::uint64_t>(window.length_s) << 32U);
  const std::uint64_t hash =
      XXH3_64bits_withSeed(counter.data(), counter.size(), seed_ ^ of_window);
  return hash == 0 ? 1 : hash;  // 0 is no name.
}

bool OverLimitCache::Has(std::string_view counter, const Window& window) const {
  if (!enabled()) {
    return false;
  }
  const std::uint64_t hash = HashOf(counter, window);
  const Set& set = sets_[hash % set_count_];
  // Relaxed: a name orders nothing, and one that is seen late costs a call.
  return std::ranges::any_of(set.hashes, [hash](const std::atomic<std::uint64_t>& at) {
    return at.load(std::memory_order_relaxed) == hash;
  });
}

OverLimitCache::Window OverLimitCache::WindowAt(std::int64_t now_s, Duration length) {
  const auto length_s = std::max<std::int64_t>(length / std::chrono::seconds(1), 1);
  return {.start_s = now_s - now_s % length_s, .length_s = length_s};
}

void OverLimitCache::Forget(std::string_view counter, const Window& window) {
  if (!enabled()) {
    return;
  }
  const std::uint64_t hash = HashOf(counter, window);
  for (std::atomic<std::uint64_t>& at : sets_[hash % set_count_].hashes) {
    std::uint64_t expected = hash;
    at.compare_exchange_strong(expected, 0, std::memory_order_relaxed);
  }
}

void OverLimitCache::Remember(std::string_view counter, const Window& window) {
  if (!enabled() || Has(counter, window)) {
    return;
  }
  const std::uint64_t hash = HashOf(counter, window);
  Set& set = sets_[hash % set_count_];
  for (std::atomic<std::uint64_t>& at : set.hashes) {
    if (at.load(std::memory_order_relaxed) == 0) {
      at.store(hash, std::memory_order_relaxed);
      return;
    }
  }
  set.hashes[(hash >> 61U) & 7U].store(hash, std::memory_order_relaxed);
}

}  // namespace sluice::envoy
