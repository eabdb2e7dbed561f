#include "base/blake2s.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"

namespace sluice::base {

namespace {

// The words of RFC 7693: the initial state (3.1, SHA-256's) and the order of a round's words (2.7).
constexpr std::array<std::uint32_t, 8> kInitial{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
constexpr std::array<std::array<std::uint8_t, 16>, 10> kOrder{
    {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
     {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
     {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
     {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
     {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
     {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
     {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
     {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
     {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
     {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}}};

void Mix(std::array<std::uint32_t, 16>& v, std::size_t a, std::size_t b, std::size_t c,
         std::size_t d, std::uint32_t x, std::uint32_t y) {
  v[a] += v[b] + x;
  v[d] = std::rotr(v[d] ^ v[a], 16);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 12);
  v[a] += v[b] + y;
  v[d] = std::rotr(v[d] ^ v[a], 8);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 7);
}

std::uint32_t LittleEndian(const std::uint8_t* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8U |
         static_cast<std::uint32_t>(bytes[2]) << 16U | static_cast<std::uint32_t>(bytes[3]) << 24U;
}

}  // namespace

Blake2s::Blake2s(std::string_view key) : state_(kInitial) {
  SLUICE_DCHECK(key.size() <= kMostKeyBytes);
  constexpr std::uint32_t kPlainTree = 0x01010000;  // No tree: fanout 1, depth 1.
  const auto key_bytes = static_cast<std::uint32_t>(key.size());
  state_[0] ^= kPlainTree ^ key_bytes << 8U ^ std::uint32_t{sizeof(Digest)};
  if (!key.empty()) {
    std::memcpy(block_.data(), key.data(), key.size());
    size_ = kBlockBytes;
  }
}

Blake2s& Blake2s::Update(std::string_view bytes) {
  while (!bytes.empty()) {
    if (size_ == kBlockBytes) {  // Not before more comes: the last block is compressed otherwise.
      Compress(/*is_last=*/false);
    }
    const std::size_t taken = std::min(bytes.size(), kBlockBytes - size_);
    std::memcpy(block_.data() + size_, bytes.data(), taken);
    size_ += taken;
    bytes.remove_prefix(taken);
  }
  return *this;
}

Blake2s::Digest Blake2s::Finish() {
  std::fill(block_.begin() + static_cast<std::ptrdiff_t>(size_), block_.end(), std::uint8_t{0});
  Compress(/*is_last=*/true);
  Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (8 * (i % 4)));
  }
  return digest;
}

void Blake2s::Compress(bool is_last) {
  counted_ += size_;
  size_ = 0;
  std::array<std::uint32_t, 16> words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = LittleEndian(block_.data() + 4 * i);
  }
  std::array<std::uint32_t, 16> v;
  std::copy(state_.begin(), state_.end(), v.begin());
  std::copy(kInitial.begin(), kInitial.end(), v.begin() + 8);
  v[12] ^= static_cast<std::uint32_t>(counted_);
  v[13] ^= static_cast<std::uint32_t>(counted_ >> 32U);
  v[14] ^= is_last ? 0xffffffffU : 0U;
  for (const auto& order : kOrder) {
    for (std::size_t i = 0; i < 4; ++i) {
      Mix(v, i, i + 4, i + 8, i + 12, words[order[2 * i]], words[order[2 * i + 1]]);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      Mix(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, words[order[8 + 2 * i]],
          words[order[9 + 2 * i]]);
    }
  }
  for (std::size_t i = 0; i < state_.size(); ++i) {
    state_[i] ^= v[i] ^ v[i + 8];
  }
}

}  // namespace sluice::base
