#include "redis/key_text.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include <openssl/evp.h>
#include <xxhash.h>

#include "core/calendar.h"
#include "redis/slot_map.h"

namespace sluice::redis {

namespace {

constexpr std::string_view kHex = "0123456789abcdef";

constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (const char c : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789._-/@+:")) {
    plain[static_cast<unsigned char>(c)] = true;
  }
  return plain;
}();

void AppendHex(unsigned char byte, std::string& out) {
  out += kHex[byte >> 4U];
  out += kHex[byte & 15U];
}

void AppendEscaped(std::string_view text, std::string& out) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (kPlain[byte]) {
      out += c;
    } else {
      out += '%';
      AppendHex(byte, out);
    }
  }
}

void AppendNumber(std::int64_t number, std::string& out) {
  std::array<char, 24> text;  // NOLINT: to_chars writes it.
  out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr);
}

void AppendShape(const core::Quota& quota, std::string& out) {
  out += core::NameOf(quota.algorithm);
  if (quota.calendar != nullptr) {
    out += ',';
    for (const char c : quota.calendar->shape()) {
      out += c == ' ' ? ',' : c;
    }
    return;
  }
  if (quota.algorithm == core::Algorithm::kConcurrency) {
    return;
  }
  out += ',';
  AppendNumber(quota.window / std::chrono::milliseconds(1), out);
  if (quota.algorithm == core::Algorithm::kSlidingWindow) {
    out += ',';
    AppendNumber(quota.segments, out);
  }
}

}  // namespace

void AppendTag(std::string_view rule, const core::KeyView& key, std::string& out) {
  // The seed keeps a rule, a text and an address of the same bytes apart.
  const std::uint64_t hash =
      key.parts.empty() ? XXH3_64bits_withSeed(rule.data(), rule.size(), 2)
                        : XXH3_64bits_withSeed(key.parts[0].value.data(), key.parts[0].value.size(),
                                               static_cast<XXH64_hash_t>(key.parts[0].type));
  for (unsigned shift = 32; shift != 0; shift -= 8) {
    AppendHex(static_cast<unsigned char>(hash >> (shift - 8)), out);
  }
}

std::uint16_t SlotOf(std::string_view rule, const core::KeyView& key) {
  std::string tag;  // Short: nothing is allocated.
  AppendTag(rule, key, tag);
  return SlotOfTag(tag);
}

void AppendKeyText(std::string_view rule, const core::KeyView& key, const core::Quota& quota,
                   std::string& out) {
  out += "sl1:{";
  AppendTag(rule, key, out);
  out += "}:";
  out += rule;
  out += ':';
  AppendShape(quota, out);
  out += ':';
  const std::size_t begin = out.size();
  for (const core::KeyPart& part : key.parts) {
    if (out.size() != begin) {
      out += ',';
    }
    AppendEscaped(part.attribute, out);
    out += part.type == core::AttributeType::kIp ? '~' : '=';
    AppendEscaped(part.value, out);
  }
  if (out.size() - begin <= kLongestPlainText) {
    return;
  }
  // Not a fast hash: whoever chooses a value must not be able to meet another's key.
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  EVP_Digest(out.data() + begin, out.size() - begin, digest.data(), nullptr, EVP_sha256(), nullptr);
  out.resize(begin);
  out += '#';
  for (std::size_t i = 0; i < 16; ++i) {
    AppendHex(digest[i], out);
  }
}

}  // namespace sluice::redis
