#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/key.h"
#include "replay/demand.h"

namespace sluice::replay {

// What became of one key.
struct KeyRecord {
  std::string_view text;  // "192.0.2.1"; of several attributes the values between colons.
  std::uint64_t hash = 0;
  std::uint64_t requests = 0;
  std::uint64_t denied = 0;
  WallInstant first_denied{};
  WallInstant last_denied{};
  Demand demand;
};

// The keys of one rule, each by a number from 0 on. Grows with the number of keys, about 200
// bytes and their text each, and with nothing else. One thread.
//
// With many keys each look waits for memory three times: for the place, the record, and what
// the record points to. Who has several keys to look for hashes them all, then asks for each
// step's lines of all before it takes the next step.
class KeyLedger {
 public:
  KeyLedger();

  [[nodiscard]] std::uint64_t HashOf(std::span<const core::KeyPart> parts);
  // Steps one to three: hints, for a key that may not be there.
  void PrefetchPlace(std::uint64_t hash) const;
  void PrefetchRecord(std::uint64_t hash) const;
  void PrefetchText(std::uint64_t hash) const;

  // The number of the key of `parts`, new if it was not there. `hash` is HashOf(parts).
  [[nodiscard]] std::size_t Find(std::span<const core::KeyPart> parts, std::uint64_t hash);
  [[nodiscard]] std::size_t Find(std::span<const core::KeyPart> parts) {
    return Find(parts, HashOf(parts));
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] KeyRecord& operator[](std::size_t number) {
    return records_[number / kRecordsPerChunk][number % kRecordsPerChunk];
  }
  [[nodiscard]] const KeyRecord& operator[](std::size_t number) const {
    return records_[number / kRecordsPerChunk][number % kRecordsPerChunk];
  }

 private:
  static constexpr std::size_t kRecordsPerChunk = 1024;

  struct Place {
    std::uint32_t number = 0;  // Of the record, plus 1; or 0.
    std::uint32_t tag = 0;     // The hash's upper half: other keys' records are not touched.
  };

  [[nodiscard]] std::string_view TextOf(std::span<const core::KeyPart> parts);
  // The record that is likely to be the key's; null if none is.
  [[nodiscard]] const KeyRecord* Guess(std::uint64_t hash) const;
  [[nodiscard]] std::string_view Keep(std::string_view text);
  void Grow();

  std::vector<std::unique_ptr<KeyRecord[]>> records_;
  std::size_t size_ = 0;
  std::vector<Place> places_;  // By hash.
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t chunk_used_ = 0;
  std::string scratch_;
};

}  // namespace sluice::replay
