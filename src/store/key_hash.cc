#include "store/key_hash.h"

#include <array>
#include <cstring>

#define XXH_INLINE_ALL  // Short keys hash in a few nanoseconds, of which a call is one or two.
#include <xxhash.h>

#include "base/random.h"
#include "core/key_codec.h"

namespace sluice::store {

namespace {

constexpr std::size_t kShortBytes = 512;

// A digest without a shape: its shape is one word, and stays as it is.
constexpr core::Quota kNoShape{.algorithm = core::Algorithm::kConcurrency};

// memcpy for the few bytes of an id or a value: a call takes longer than they do.
inline void CopyShort(char* to, const void* from, std::size_t size) {
  const auto* bytes = static_cast<const char*>(from);
  if (size >= 16) {
    for (std::size_t at = 0; at + 16 < size; at += 16) {
      std::memcpy(to + at, bytes + at, 16);
    }
    // The remaining bytes, together with those before them.
    std::memcpy(to + size - 16, bytes + size - 16, 16);
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

}  // namespace

HashSecret DrawHashSecret() {
  HashSecret secret{};
  base::FillWithSecretBytes(secret);
  return secret;
}

Fingerprint KeyHash::Of(std::string_view rule, const core::KeyView& key,
                        const core::Quota& quota) const {
  const core::Shape shape = core::ShapeOf(quota);
  const std::size_t size = core::digest::Bytes(rule, key.parts, shape);
  XXH128_hash_t hash{};
  if (size <= kShortBytes) {
    char bytes[kShortBytes];  // NOLINT: written before it is read, zeroing it costs.
    ShortWriter writer(bytes);
    core::digest::Write(writer, rule, key.parts, shape);
    hash = XXH3_128bits_withSecret(bytes, size, secret_->data(), secret_->size());
  } else {
    LongWriter writer(*secret_);
    core::digest::Write(writer, rule, key.parts, shape);
    hash = writer.Hash();
  }
  if (hash.high64 == 0 && hash.low64 == 0) {
    hash.low64 = 1;
  }
  return {.high = hash.high64, .low = hash.low64};
}

KeyHash::BanKeys KeyHash::OfBan(std::string_view rule, const core::KeyView& key) const {
  constexpr std::uint64_t kBan = 0x6c62272e07bb0142ULL;
  constexpr std::uint64_t kDenials = 0x9ae16a3b2f90404fULL;
  const Fingerprint plain = Of(rule, key, kNoShape);
  return {.ban = {.high = plain.high, .low = plain.low ^ kBan},
          .denials = {.high = plain.high, .low = plain.low ^ kDenials}};
}

Fingerprint KeyHash::OfReset(std::string_view rule, const core::KeyView& key,
                             const core::Quota& quota) const {
  constexpr std::uint64_t kReset = 0x2545f4914f6cdd1dULL;
  const Fingerprint own = Of(rule, key, quota);
  return {.high = own.high, .low = own.low ^ kReset};
}

Fingerprint KeyHash::OfSettled(const Receipt& receipt) const {
  constexpr std::string_view kRule = "@settled";  // No rule can have this id.
  const std::array<char, 16> id = IdBytes(receipt);
  const core::KeyPart part{.attribute = {}, .value = {id.data(), id.size()}};
  return Of(kRule, {.rule = kRule, .formerly = {}, .parts = {&part, 1}}, kNoShape);
}

std::uint64_t KeyHash::TableId() const {
  constexpr std::string_view kWhat = "the id of this table";
  return XXH3_64bits_withSecret(kWhat.data(), kWhat.size(), secret_->data(), secret_->size()) | 2U;
}

}  // namespace sluice::store
