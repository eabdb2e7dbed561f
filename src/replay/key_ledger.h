#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/key.h"
#include "replay/peak_window.h"

namespace sluice::replay {

// What became of one key.
struct KeyRecord {
  std::string_view text;  // "192.0.2.1"; of several attributes the values between colons.
  std::uint64_t hash = 0;
  std::uint64_t requests = 0;
  std::uint64_t denied = 0;
  Units limit = 0;  // That its last request was judged by: per window.
  WallInstant first_denied{};
  WallInstant last_denied{};
  PeakWindow window;
};

// The keys of one rule, each by a number from 0 on. Grows with the number of keys, about 160
// bytes and their text each, and with nothing else. One thread.
class KeyLedger {
 public:
  KeyLedger();

  // The number of the key of `parts`, new if it was not there.
  [[nodiscard]] std::size_t Find(std::span<const core::KeyPart> parts);

  [[nodiscard]] std::size_t size() const { return records_.size(); }
  [[nodiscard]] KeyRecord& operator[](std::size_t number) { return records_[number]; }
  [[nodiscard]] const KeyRecord& operator[](std::size_t number) const { return records_[number]; }

 private:
  [[nodiscard]] std::string_view Keep(std::string_view text);
  void Grow();

  std::deque<KeyRecord> records_;
  std::vector<std::uint32_t> places_;  // By hash: a record's number + 1, or 0.
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t chunk_used_ = 0;
  std::string scratch_;
};

}  // namespace sluice::replay
