#pragma once

#include <array>
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

// The most frequent of many texts, by the algorithm of Misra and Gries (1982), with a few counters.
// A count is exact if there are no more texts than counters; otherwise it may be too low, but never
// too high.
class FrequentTexts {
 public:
  void Add(std::string_view text);

  struct Top {
    std::string text{};  // Truncated to kMostBytes; "" if nothing was added.
    std::uint64_t count = 0;
  };
  [[nodiscard]] Top top() const;

 private:
  static constexpr std::size_t kCounters = 8;
  static constexpr std::size_t kMostBytes = 200;

  std::vector<Top> counters_;
};

// A summary of the denied requests of one key, as far as the log has the data. About 500 bytes,
// more with long texts.
class KeyProfile {
 public:
  // Views without data are absent values.
  void Add(std::string_view status, std::string_view endpoint, std::string_view user_agent);

  [[nodiscard]] std::uint64_t requests() const { return requests_; }
  // Index 1 to 5: requests with status 1xx to 5xx; index 0: without a status.
  [[nodiscard]] const std::array<std::uint64_t, 6>& statuses() const { return statuses_; }
  [[nodiscard]] FrequentTexts::Top endpoint() const { return endpoints_.top(); }
  [[nodiscard]] FrequentTexts::Top user_agent() const { return user_agents_.top(); }

 private:
  std::uint64_t requests_ = 0;
  std::array<std::uint64_t, 6> statuses_{};
  FrequentTexts endpoints_;
  FrequentTexts user_agents_;
};

// The results of one key.
struct KeyRecord {
  std::string_view text;  // "192.0.2.1"; several values are joined by colons.
  std::uint64_t hash = 0;
  std::uint64_t requests = 0;
  std::uint64_t denied = 0;
  WallInstant first_denied{};
  WallInstant last_denied{};
  Demand demand;
};

// The keys of one rule, numbered from 0. Memory: about 200 bytes plus the text for each key. One
// thread.
//
// With many keys, each lookup waits for memory three times: for the hash slot, the record, and the
// data that the record points to. To look up several keys, hash all of them, then prefetch each
// step for all of them before the next step.
class KeyLedger {
 public:
  KeyLedger();

  [[nodiscard]] std::uint64_t HashOf(std::span<const core::KeyPart> parts);
  // Steps one to three: prefetches for a key, which may be absent.
  void PrefetchPlace(std::uint64_t hash) const;
  void PrefetchRecord(std::uint64_t hash) const;
  void PrefetchText(std::uint64_t hash) const;

  // The number of the key of `parts`, which is added if it is new. `hash` is HashOf(parts).
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
    std::uint32_t number = 0;  // The record's number plus 1, or 0.
    std::uint32_t tag =
        0;  // The upper half of the hash, so that records of other keys are not read.
  };

  [[nodiscard]] std::string_view TextOf(std::span<const core::KeyPart> parts);
  // The record that probably belongs to the key; null if none does.
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
