#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "sluice/time.h"

namespace sluice::insight {

// What one decision was, for those who count keys.
enum class Kind : std::uint8_t {
  kAllowed,
  kDenied,
  kBanned,  // Denied by a ban.
  kShadow,  // A rule in shadow would have denied it.
};
inline constexpr std::size_t kKinds = 4;

// One decision that was picked, and stands for `weight` decisions.
struct KeySample {
  std::string_view rule;
  std::string_view key;  // By WriteKey().
  Kind kind = Kind::kAllowed;
  // Of kShadow: no rule in force denied the request.
  bool newly_denied = false;
  bool of_denied_request = false;  // Some rule denied the request.
  std::uint32_t weight = 1;
  WallInstant at{};
};

// The samples of one thread on their way to the thread that counts them, in a ring of fixed size.
// One thread writes, one other reads; neither waits, allocates or makes a system call.
class SampleRing {
 public:
  static constexpr std::size_t kBytes = 128 * 1024;

  // False: the ring is full, and the sample is lost. Texts are at most kMostKeyBytes long; a longer
  // rule id is cut at 255 bytes.
  bool Write(const KeySample& sample) noexcept;
  // How many bytes wait for the reader; maybe more than there are while they are less than half of
  // the ring. For the writer.
  [[nodiscard]] std::size_t waiting() noexcept;

  // Calls `take` with each sample that was written before the call. The sample's texts are valid
  // until `take` returns.
  template <class Take>
  void Read(Take&& take);

 private:
  // In front of each entry. Entries begin at multiples of 8 and do not wrap.
  struct Head {
    std::uint32_t bytes = 0;   // Of the whole entry.
    std::uint32_t weight = 0;  // 0: nothing is here, the next entry is at the ring's begin.
    std::int64_t at_ns = 0;
    std::uint16_t key_bytes = 0;
    std::uint8_t rule_bytes = 0;
    Kind kind = Kind::kAllowed;
    bool newly_denied = false;
    bool of_denied_request = false;
  };
  static_assert(sizeof(Head) == 24);
  struct Gap {  // A head that says that nothing is here.
    std::uint32_t bytes = 0;
    std::uint32_t weight = 0;
  };

  [[nodiscard]] char* Place(std::uint64_t position) { return bytes_.data() + position % kBytes; }

  // Total bytes written and read. Each side's release pairs with the other's acquire.
  alignas(64) std::atomic<std::uint64_t> written_{0};
  std::uint64_t seen_read_ = 0;  // The writer's copy of read_.
  alignas(64) std::atomic<std::uint64_t> read_{0};
  alignas(64) std::array<char, kBytes> bytes_{};
};

template <class Take>
void SampleRing::Read(Take&& take) {
  std::uint64_t at = read_.load(std::memory_order_relaxed);
  const std::uint64_t end = written_.load(std::memory_order_acquire);
  while (at != end) {
    const char* const entry = Place(at);
    Gap gap;
    std::memcpy(&gap, entry, sizeof(gap));
    at += gap.bytes;
    if (gap.weight != 0) {
      Head head;
      std::memcpy(&head, entry, sizeof(head));
      const char* const text = entry + sizeof(head);
      take(KeySample{.rule = {text, head.rule_bytes},
                     .key = {text + head.rule_bytes, head.key_bytes},
                     .kind = head.kind,
                     .newly_denied = head.newly_denied,
                     .of_denied_request = head.of_denied_request,
                     .weight = head.weight,
                     .at = WallInstant(Duration(head.at_ns))});
    }
    read_.store(at, std::memory_order_release);
  }
}

}  // namespace sluice::insight
