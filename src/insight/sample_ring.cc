#include "insight/sample_ring.h"

#include <algorithm>

namespace sluice::insight {

bool SampleRing::Write(const KeySample& sample) noexcept {
  const std::string_view rule = sample.rule.substr(0, 255);
  const std::size_t bytes = (sizeof(Head) + rule.size() + sample.key.size() + 7) / 8 * 8;
  std::uint64_t at = written_.load(std::memory_order_relaxed);
  const std::size_t to_end = kBytes - (at % kBytes);
  const std::size_t skipped = bytes <= to_end ? 0 : to_end;
  if (at + skipped + bytes - seen_read_ > kBytes) {
    seen_read_ = read_.load(std::memory_order_acquire);
    if (at + skipped + bytes - seen_read_ > kBytes) {
      return false;
    }
  }
  if (skipped != 0) {
    const Gap gap{.bytes = static_cast<std::uint32_t>(skipped)};
    std::memcpy(Place(at), &gap, sizeof(gap));
    at += skipped;
  }
  const Head head{.bytes = static_cast<std::uint32_t>(bytes),
                  .weight = sample.weight,
                  .at_ns = sample.at.time_since_epoch().count(),
                  .key_bytes = static_cast<std::uint16_t>(sample.key.size()),
                  .rule_bytes = static_cast<std::uint8_t>(rule.size()),
                  .kind = sample.kind,
                  .newly_denied = sample.newly_denied,
                  .of_denied_request = sample.of_denied_request};
  char* place = Place(at);
  std::memcpy(place, &head, sizeof(head));
  place += sizeof(head);
  place = std::copy_n(rule.data(), rule.size(), place);
  std::copy_n(sample.key.data(), sample.key.size(), place);
  written_.store(at + bytes, std::memory_order_release);
  return true;
}

std::size_t SampleRing::waiting() noexcept {
  const std::uint64_t written = written_.load(std::memory_order_relaxed);
  if (written - seen_read_ >= kBytes / 2) {
    seen_read_ = read_.load(std::memory_order_acquire);
  }
  return written - seen_read_;
}

}  // namespace sluice::insight
