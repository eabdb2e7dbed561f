#include "store/key_hash.h"

#include <cstring>

#define XXH_INLINE_ALL  // Short keys hash in a few nanoseconds, of which a call is one or two.
#include <xxhash.h>

#include "core/calendar.h"

namespace sluice::store {

namespace {

using core::Algorithm;

constexpr std::size_t kShortBytes = 512;

// What comes before the texts: everything of fixed size.
struct Shape {
  std::int64_t window = 0;
  std::uint8_t algorithm = 0;
  std::uint8_t segments = 0;
  std::uint8_t parts = 0;
  std::uint8_t zero = 0;
  std::uint16_t rule_bytes = 0;
  std::uint16_t calendar_bytes = 0;
};
static_assert(sizeof(Shape) == 16);

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

// Collects the bytes on the stack.
class ShortWriter {
 public:
  void Put(const void* bytes, std::size_t size) {
    std::memcpy(buffer_ + used_, bytes, size);
    used_ += size;
  }
  [[nodiscard]] XXH128_hash_t Hash(const HashSecret& secret) const {
    return XXH3_128bits_withSecret(buffer_, used_, secret.data(), secret.size());
  }

 private:
  char buffer_[kShortBytes];  // NOLINT: written before it is read, zeroing it costs.
  std::size_t used_ = 0;
};

// The same bytes, streamed.
class LongWriter {
 public:
  explicit LongWriter(const HashSecret& secret) {
    XXH3_128bits_reset_withSecret(&state_, secret.data(), secret.size());
  }
  void Put(const void* bytes, std::size_t size) { XXH3_128bits_update(&state_, bytes, size); }
  [[nodiscard]] XXH128_hash_t Hash() const { return XXH3_128bits_digest(&state_); }

 private:
  XXH3_state_t state_;  // NOLINT: set by the reset.
};

template <class Writer>
void Write(Writer& to, const Shape& shape, std::string_view rule, std::string_view calendar,
           std::span<const core::KeyPart> parts) {
  to.Put(&shape, sizeof(shape));
  to.Put(rule.data(), rule.size());
  if (!calendar.empty()) {
    to.Put(calendar.data(), calendar.size());
  }
  for (const core::KeyPart& part : parts) {
    const PartHead head = HeadOf(part);
    to.Put(&head, sizeof(head));
    to.Put(part.attribute.data(), part.attribute.size());
    if (!part.value.empty()) {
      to.Put(part.value.data(), part.value.size());
    }
  }
}

}  // namespace

Fingerprint KeyHash::Of(std::string_view rule, const core::KeyView& key,
                        const core::Quota& quota) const {
  std::string_view calendar;
  if (quota.calendar != nullptr && quota.algorithm == Algorithm::kFixedWindow) {
    calendar = quota.calendar->shape();
  }
  const bool has_window = calendar.empty() && quota.algorithm != Algorithm::kConcurrency;
  const Shape shape{
      .window = has_window ? quota.window.count() : 0,
      .algorithm = static_cast<std::uint8_t>(quota.algorithm),
      .segments = quota.algorithm == Algorithm::kSlidingWindow ? quota.segments : std::uint8_t{0},
      .parts = static_cast<std::uint8_t>(key.parts.size()),
      .rule_bytes = Length(rule),
      .calendar_bytes = Length(calendar)};
  std::size_t size = sizeof(Shape) + rule.size() + calendar.size();
  for (const core::KeyPart& part : key.parts) {
    size += sizeof(PartHead) + part.attribute.size() + part.value.size();
  }
  XXH128_hash_t hash{};
  if (size <= kShortBytes) {
    ShortWriter writer;
    Write(writer, shape, rule, calendar, key.parts);
    hash = writer.Hash(*secret_);
  } else {
    LongWriter writer(*secret_);
    Write(writer, shape, rule, calendar, key.parts);
    hash = writer.Hash();
  }
  if (hash.high64 == 0 && hash.low64 == 0) {
    hash.low64 = 1;
  }
  return {.high = hash.high64, .low = hash.low64};
}

}  // namespace sluice::store
