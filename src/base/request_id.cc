#include "base/request_id.h"

#include <algorithm>
#include <cstddef>

#include "base/random.h"

namespace sluice::base {

namespace {

constexpr std::size_t kHalfDigits = 16;

constexpr std::array<bool, 256> HarmlessBytes() {
  std::array<bool, 256> bytes{};
  for (const char c :
       std::string_view("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.:=+/@")) {
    bytes[static_cast<unsigned char>(c)] = true;
  }
  return bytes;
}
constexpr std::array<bool, 256> kHarmlessBytes = HarmlessBytes();

void WriteHex(std::uint64_t number, char* out) {
  for (std::size_t i = kHalfDigits; i-- > 0; number >>= 4U) {
    out[i] = "0123456789abcdef"[number & 0xFU];
  }
}

// What the ids of one thread share, and how many there were.
struct ThreadIds {
  ThreadIds() { WriteHex(UniqueNumber(), prefix.data()); }

  std::array<char, kHalfDigits> prefix{};
  std::uint64_t count = 0;
};

}  // namespace

void RequestId::Take(std::string_view text) {
  is_wanted_ = true;
  if (!text.empty() && text.size() <= kMostBytes && std::ranges::all_of(text, [](char c) {
        return kHarmlessBytes[static_cast<unsigned char>(c)];
      })) {
    size_ = static_cast<std::uint8_t>(text.copy(text_.data(), kMostBytes));
  }
}

void RequestId::Make() {
  thread_local ThreadIds ids;
  std::ranges::copy(ids.prefix, text_.data());
  WriteHex(++ids.count, text_.data() + kHalfDigits);
  size_ = 2 * kHalfDigits;
}

}  // namespace sluice::base
