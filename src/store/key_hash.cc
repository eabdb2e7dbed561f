#include "store/key_hash.h"

#include <cstring>

#define XXH_INLINE_ALL  // Short keys hash in a few nanoseconds, of which a call is one or two.
#include <xxhash.h>

#include "base/random.h"
#include "core/shape.h"

namespace sluice::store {

namespace {

constexpr std::size_t kShortBytes = 512;

// What comes before the texts: everything of fixed size. Two words and no fields, so that the
// hash does not wait for bytes to be gathered that were stored one by one.
struct Head {
  std::uint64_t window = 0;
  std::uint64_t rest = 0;
};

struct PartHead {
  std::uint16_t attribute_bytes = 0;
  std::uint16_t value_bytes = 0;  // At most kMaxValueBytes: the top bit is free for the type.
};

std::uint16_t Length(std::string_view text) {
  return static_cast<std::uint16_t>(text.size());
}

PartHead HeadOf(const core::KeyPart& part) {
  const unsigned type = part.type == core::AttributeType::kIp ? 0x8000U : 0U;
  return {.attribute_bytes = Length(part.attribute),
          .value_bytes = static_cast<std::uint16_t>(Length(part.value) | type)};
}

// memcpy for the few bytes of an id or a value: a call takes longer than they do.
inline void CopyShort(char* to, const void* from, std::size_t size) {
  const auto* bytes = static_cast<const char*>(from);
  if (size >= 16) {
    for (std::size_t at = 0; at + 16 < size; at += 16) {
      std::memcpy(to + at, bytes + at, 16);
    }
    std::memcpy(to + size - 16, bytes + size - 16, 16);  // The rest, with what is before it.
  } else if (size >= 8) {
    std::memcpy(to, bytes, 8);
    std::memcpy(to + size - 8, bytes + size - 8, 8);
  } else if (size >= 4) {
    std::memcpy(to, bytes, 4);
    std::memcpy(to + size - 4, bytes + size - 4, 4);
  } else {
    for (std::size_t at = 0; at < size; ++at) {
      to[at] = bytes[at];
    }
  }
}

// Puts the bytes one behind the other.
class ShortWriter {
 public:
  explicit ShortWriter(char* to) : to_(to) {}
  void Put(const void* bytes, std::size_t size) {
    CopyShort(to_, bytes, size);
    to_ += size;
  }

 private:
  char* to_;
};

// The same bytes, streamed.
class LongWriter {
 public:
  explicit LongWriter(const HashSecret& secret) {  // NOLINT: the reset sets state_.
    XXH3_128bits_reset_withSecret(&state_, secret.data(), secret.size());
  }
  void Put(const void* bytes, std::size_t size) { XXH3_128bits_update(&state_, bytes, size); }
  [[nodiscard]] XXH128_hash_t Hash() const { return XXH3_128bits_digest(&state_); }

 private:
  XXH3_state_t state_;
};

template <class Writer>
void Write(Writer& to, const Head& head, std::string_view rule, std::string_view calendar,
           std::span<const core::KeyPart> parts) {
  to.Put(&head.window, sizeof(head.window));
  to.Put(&head.rest, sizeof(head.rest));
  to.Put(rule.data(), rule.size());
  if (!calendar.empty()) {
    to.Put(calendar.data(), calendar.size());
  }
  for (const core::KeyPart& part : parts) {
    const PartHead part_head = HeadOf(part);
    to.Put(&part_head, sizeof(part_head));
    to.Put(part.attribute.data(), part.attribute.size());
    if (!part.value.empty()) {
      to.Put(part.value.data(), part.value.size());
    }
  }
}

}  // namespace

HashSecret DrawHashSecret() {
  HashSecret secret{};
  base::FillWithSecretBytes(secret);
  return secret;
}

Fingerprint KeyHash::Of(std::string_view rule, const core::KeyView& key,
                        const core::Quota& quota) const {
  const core::Shape shape = core::ShapeOf(quota);
  const std::string_view calendar = shape.calendar;
  const Head head{
      .window = static_cast<std::uint64_t>(shape.window.count()),
      .rest = static_cast<std::uint64_t>(shape.algorithm) | (std::uint64_t{shape.segments} << 8U) |
              (std::uint64_t{key.parts.size()} << 16U) | (std::uint64_t{Length(rule)} << 32U) |
              (std::uint64_t{Length(calendar)} << 48U)};
  std::size_t size = sizeof(Head) + rule.size() + calendar.size();
  for (const core::KeyPart& part : key.parts) {
    size += sizeof(PartHead) + part.attribute.size() + part.value.size();
  }
  XXH128_hash_t hash{};
  if (size <= kShortBytes) {
    char bytes[kShortBytes];  // NOLINT: written before it is read, zeroing it costs.
    ShortWriter writer(bytes);
    Write(writer, head, rule, calendar, key.parts);
    hash = XXH3_128bits_withSecret(bytes, size, secret_->data(), secret_->size());
  } else {
    LongWriter writer(*secret_);
    Write(writer, head, rule, calendar, key.parts);
    hash = writer.Hash();
  }
  if (hash.high64 == 0 && hash.low64 == 0) {
    hash.low64 = 1;
  }
  return {.high = hash.high64, .low = hash.low64};
}

std::uint64_t KeyHash::TableId() const {
  constexpr std::string_view kWhat = "the id of this table";
  return XXH3_64bits_withSecret(kWhat.data(), kWhat.size(), secret_->data(), secret_->size()) | 2U;
}

}  // namespace sluice::store
