#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/key.h"
#include "core/shape.h"

// How a key becomes bytes, and bytes a key. Nothing else does either, so that two keys are the same
// everywhere or nowhere. No form lets two keys share their bytes: each text has its length before
// it or its separators escaped.
//
//   form          says                  is in                                  read back
//   binary        rule, parts           tokens; the bans that a table keeps    ReadKey
//   text          parts                 names in Redis (redis/key_name.h)      ReadKeyText
//   values        values of the parts   rule files' overrides, replay reports  SplitKeyValues
//   digest input  shape, rule, parts    fingerprints (store/key_hash.h)        never: it is hashed
//
// All but the last are stored, or out with clients, and are read by later versions: their bytes
// stay. What would change them is a new form beside the old one. The bytes of the last are what
// fingerprints in tables and snapshots are made of: they stay as well.
namespace sluice::core {

// Binary: the rule, then type, attribute and value of each part. A text has its length in two
// bytes before it, the lower one first.
enum class KeyForm : std::uint8_t {
  kCounted,  // Among other fields: the number of parts stands behind the rule. A type is one byte.
  kWhole,    // Alone: the parts end where the bytes end. A type is a text, "t" or "i".
};

[[nodiscard]] std::size_t KeyBytes(KeyForm form, const KeyView& key);
// Writes KeyBytes() bytes to `to`. Allocates nothing.
void WriteKey(KeyForm form, const KeyView& key, char* to);
void AppendKey(KeyForm form, const KeyView& key, std::string& out);

// Takes a key from the front of `bytes`: any bytes, of whatever origin. False, with `key` and
// `bytes` as they may be, if none was written so, or it is beyond the bounds of core/key.h.
[[nodiscard]] bool ReadKey(KeyForm form, std::string_view& bytes, Key& key);

// Text: "user_id=u_42,ip~192.0.2.7". "=" stands before a text and "~" before an address; what could
// be mistaken, or not typed in redis-cli, is %XX.
void AppendKeyText(std::span<const KeyPart> parts, std::string& out);
// The key of `rule` with these parts; nullopt for any other text than AppendKeyText() gives.
[[nodiscard]] std::optional<Key> ReadKeyText(std::string_view rule, std::string_view text);

// Appends a text of which what could be mistaken for a separator is %XX: no blank, comma or "=" is
// left.
void AppendEscaped(std::string_view text, std::string& out);

// Values: those of one key pattern, whose attributes and types are known, for people: of several
// "u_42:/a\:b", with '\' before every ':' and '\' of theirs. A value alone stands as it is, and
// needs neither of these.
void AppendKeyValue(std::string& text, std::string_view value, bool first);
// Of a key of several parts; nullopt for a '\' before anything but ':' and '\'.
[[nodiscard]] std::optional<std::vector<std::string>> SplitKeyValues(std::string_view text);

// Digest input: what a fingerprint is the hash of. Laid out for speed: what is of fixed size is in
// two words before the texts, and in four bytes before those of each part.
namespace digest {

struct PartHead {
  std::uint16_t attribute_bytes = 0;
  std::uint16_t value_bytes = 0;  // At most kMaxValueBytes: the top bit is free for the type.
};

[[nodiscard]] inline std::uint16_t Length(std::string_view text) {
  return static_cast<std::uint16_t>(text.size());
}

[[nodiscard]] inline std::size_t Bytes(std::string_view rule, std::span<const KeyPart> parts,
                                       const Shape& shape) {
  std::size_t size = 2 * sizeof(std::uint64_t) + rule.size() + shape.calendar.size();
  for (const KeyPart& part : parts) {
    size += sizeof(PartHead) + part.attribute.size() + part.value.size();
  }
  return size;
}

// All of it, piece by piece, to `sink.Put(const void*, std::size_t)`. Allocates nothing.
template <class Sink>
void Write(Sink& sink, std::string_view rule, std::span<const KeyPart> parts, const Shape& shape) {
  // Words and no fields: a hash does not wait for bytes that were stored one by one.
  const auto window = static_cast<std::uint64_t>(shape.window.count());
  const std::uint64_t rest =
      static_cast<std::uint64_t>(shape.algorithm) | (std::uint64_t{shape.segments} << 8U) |
      (std::uint64_t{parts.size()} << 16U) | (std::uint64_t{Length(rule)} << 32U) |
      (std::uint64_t{Length(shape.calendar)} << 48U);
  sink.Put(&window, sizeof(window));
  sink.Put(&rest, sizeof(rest));
  sink.Put(rule.data(), rule.size());
  if (!shape.calendar.empty()) {
    sink.Put(shape.calendar.data(), shape.calendar.size());
  }
  for (const KeyPart& part : parts) {
    const unsigned type = part.type == AttributeType::kIp ? 0x8000U : 0U;
    const PartHead head{.attribute_bytes = Length(part.attribute),
                        .value_bytes = static_cast<std::uint16_t>(Length(part.value) | type)};
    sink.Put(&head, sizeof(head));
    sink.Put(part.attribute.data(), part.attribute.size());
    if (!part.value.empty()) {
      sink.Put(part.value.data(), part.value.size());
    }
  }
}

}  // namespace digest

}  // namespace sluice::core
