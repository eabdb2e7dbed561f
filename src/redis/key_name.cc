#include "redis/key_name.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include <openssl/evp.h>
#include <xxhash.h>

#include "core/key_codec.h"
#include "core/shape.h"
#include "redis/slot_map.h"

namespace sluice::redis {

namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr char kDigestMark = '#';  // No attribute's name begins so: it is escaped there.

// The longest text that a ban keeps of its key.
constexpr std::size_t kLongestBanText = 2048;

void AppendHex(unsigned char byte, std::string& out) {
  out += kHex[byte >> 4U];
  out += kHex[byte & 15U];
}

void AppendNumber(std::int64_t number, std::string& out) {
  std::array<char, 24> text;  // NOLINT: to_chars writes it.
  out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr);
}

void AppendShape(const core::Quota& quota, std::string& out) {
  const core::Shape shape = core::ShapeOf(quota);
  out += core::NameOf(shape.algorithm);
  if (!shape.calendar.empty()) {
    out += ',';
    for (const char c : shape.calendar) {
      out += c == ' ' ? ',' : c;
    }
  } else if (shape.has_window()) {
    out += ',';
    AppendNumber(shape.window / std::chrono::milliseconds(1), out);
  }
  if (shape.segments != 0) {
    out += ',';
    AppendNumber(shape.segments, out);
  }
}

constexpr std::string_view kVersion = "sl1:{";
constexpr std::string_view kBanInName = ":ban:";

// All before the shape.
void AppendHead(std::string_view rule, const core::KeyView& key, std::string& out) {
  out += kVersion;
  AppendTag(rule, key, out);
  out += "}:";
  out += rule;
  out += ':';
}

// All behind the shape.
void AppendAttributes(const core::KeyView& key, std::string& out) {
  out += ':';
  const std::size_t begin = out.size();
  core::AppendKeyText(key.parts, out);
  if (out.size() - begin <= kLongestPlainText) {
    return;
  }
  // Not a fast hash: a client that chooses a value must not be able to collide with another key.
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  EVP_Digest(out.data() + begin, out.size() - begin, digest.data(), nullptr, EVP_sha256(), nullptr);
  out.resize(begin);
  out += kDigestMark;
  for (std::size_t i = 0; i < 16; ++i) {
    AppendHex(digest[i], out);
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

void AppendKeyName(std::string_view rule, const core::KeyView& key, const core::Quota& quota,
                   std::string& out) {
  AppendHead(rule, key, out);
  AppendShape(quota, out);
  AppendAttributes(key, out);
}

void AppendBesideKeyName(std::string_view rule, const core::KeyView& key, BesideKey what,
                         std::string& out) {
  AppendHead(rule, key, out);
  out += what == BesideKey::kBan ? "ban" : "denials";
  AppendAttributes(key, out);
}

void AppendAttributesOfBan(const core::KeyView& key, std::string& out) {
  const std::size_t begin = out.size();
  core::AppendKeyText(key.parts, out);
  const std::size_t size = out.size() - begin;
  if (size <= kLongestPlainText || size > kLongestBanText) {
    out.resize(begin);
  }
}

std::optional<core::Key> ReadBanKeyName(std::string_view name, std::string_view attributes) {
  const std::size_t head = name.find("}:");
  if (!name.starts_with(kVersion) || head == std::string_view::npos) {
    return std::nullopt;
  }
  name.remove_prefix(head + 2);
  const std::string_view rule = name.substr(0, name.find(':'));
  name.remove_prefix(rule.size());
  if (!name.starts_with(kBanInName)) {
    return std::nullopt;
  }
  name.remove_prefix(kBanInName.size());
  return core::ReadKeyText(rule, name.starts_with(kDigestMark) ? attributes : name);
}

}  // namespace sluice::redis
