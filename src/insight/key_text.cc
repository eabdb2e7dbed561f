#include "insight/key_text.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace sluice::insight {

namespace {

constexpr std::size_t kPartHead = 5;  // The type and two lengths of two bytes.

std::uint64_t DigestOf(std::span<const core::KeyPart> parts) {
  std::uint64_t digest = parts.size();
  const auto add = [&digest](std::uint64_t number) {
    digest = (digest ^ number) * 0x9E3779B97F4A7C15U;
    digest ^= digest >> 32U;
  };
  for (const core::KeyPart& part : parts) {
    add(std::hash<std::string_view>{}(part.attribute));
    add(static_cast<std::uint64_t>(part.type));
    add(std::hash<std::string_view>{}(part.value));
  }
  return digest;
}

class KeyWriter {
 public:
  KeyWriter(KeyRoom& room, std::size_t at) : room_(room), at_(at) {}

  // As much of it as there is room for.
  void Add(const core::KeyPart& part) {
    const std::size_t left = kMostKeyBytes - at_;
    if (left < kPartHead) {
      return;
    }
    const std::size_t name = std::min(part.attribute.size(), left - kPartHead);
    const std::size_t value = std::min(part.value.size(), left - kPartHead - name);
    room_[at_++] = static_cast<char>(part.type);
    AddLength(name);
    AddLength(value);
    AddText(part.attribute.substr(0, name));
    AddText(part.value.substr(0, value));
  }
  [[nodiscard]] std::string_view written() const { return {room_.data(), at_}; }

 private:
  void AddLength(std::size_t length) {
    room_[at_++] = static_cast<char>(length & 0xFFU);
    room_[at_++] = static_cast<char>(length >> 8U);
  }
  void AddText(std::string_view text) {
    std::copy_n(text.data(), text.size(), room_.data() + at_);
    at_ += text.size();
  }

  KeyRoom& room_;
  std::size_t at_;
};

std::size_t LengthAt(std::string_view key, std::size_t at) {
  return static_cast<unsigned char>(key[at]) |
         (static_cast<std::size_t>(static_cast<unsigned char>(key[at + 1])) << 8U);
}

}  // namespace

std::string_view WriteKey(std::span<const core::KeyPart> parts, KeyRoom& room) {
  std::size_t whole = 1;
  for (const core::KeyPart& part : parts) {
    whole += kPartHead + part.attribute.size() + part.value.size();
  }
  room[0] = whole > kMostKeyBytes ? 1 : 0;
  std::size_t begin = 1;
  if (whole > kMostKeyBytes) [[unlikely]] {
    const std::uint64_t digest = DigestOf(parts);
    std::memcpy(room.data() + begin, &digest, sizeof(digest));
    begin += sizeof(digest);
  }
  KeyWriter writer(room, begin);
  for (const core::KeyPart& part : parts) {
    writer.Add(part);
  }
  return writer.written();
}

ReadKey PartsOf(std::string_view key) {
  ReadKey read;
  read.is_cut = key[0] != 0;
  std::size_t at = read.is_cut ? 1 + sizeof(std::uint64_t) : 1;
  while (at < key.size()) {
    const auto type = static_cast<core::AttributeType>(key[at]);
    const std::size_t name = LengthAt(key, at + 1);
    const std::size_t value = LengthAt(key, at + 3);
    at += kPartHead;
    read.parts.push_back(
        {.attribute = key.substr(at, name), .type = type, .value = key.substr(at + name, value)});
    at += name + value;
  }
  return read;
}

std::string TextOf(const ReadKey& key) {
  std::string text;
  for (const core::KeyPart& part : key.parts) {
    text += text.empty() ? "" : ", ";
    text += part.attribute;
    text += '=';
    text += part.value;
  }
  return key.is_cut ? text + "..." : text;
}

}  // namespace sluice::insight
