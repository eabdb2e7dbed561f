#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "store/slot.h"

namespace sluice::store {

// One key as it travels from table to table: what a snapshot has of it, and what moves when
// a table gets another size. `items` entries or holds, as the kind says, follow it.
//
// A key with many entries comes in parts, one after the other, each with the state as it was
// when the part was copied. A part that is marked first, under the fingerprint of the part
// before it, begins that key anew; one with expiry 0 takes it back.
struct KeyImage {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::uint32_t expiry = 0;  // See Slot.
  std::uint16_t rule = 0;
  std::uint8_t kind = 0;
  std::uint8_t heat = 0;
  std::uint32_t items = 0;
  std::uint32_t part = 0;  // 0 is the first.
  RawState state;          // The ends of a chain are 0.

  [[nodiscard]] Fingerprint key() const { return {.high = high, .low = low}; }
};
static_assert(sizeof(KeyImage) == 64);

// Takes keys one by one. Not called under a lock.
class KeySink {
 public:
  virtual ~KeySink() = default;
  // `items` are the bytes of image.items core::Entry or Hold. False: no more, please.
  virtual bool Take(const KeyImage& image, std::span<const std::byte> items) = 0;
};

}  // namespace sluice::store
