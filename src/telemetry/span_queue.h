#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sluice/time.h"

#include "telemetry/counter.h"

namespace sluice::telemetry {

// A short text that a span owns; what is longer is cut.
template <std::size_t kMost>
class SpanText {
 public:
  SpanText& operator=(std::string_view text) {
    size_ = static_cast<std::uint8_t>(text.copy(bytes_.data(), kMost));
    return *this;
  }
  [[nodiscard]] std::string_view view() const { return {bytes_.data(), size_}; }

 private:
  static_assert(kMost < 256);
  std::array<char, kMost> bytes_{};
  std::uint8_t size_ = 0;
};

// One decision as a part of a trace.
struct Span {
  std::array<std::uint8_t, 16> trace_id{};
  std::array<std::uint8_t, 8> parent_id{};
  std::array<std::uint8_t, 8> id{};
  WallInstant start{};
  Duration duration{};         // From the request's header to its verdict.
  Duration store{};            // Of that, from the question to the store until its answer.
  SpanText<128> rule{};        // The governing one; "" if no rule applied.
  std::string_view outcome{};  // Of that rule; a constant. "no_rule" if none applied.
  std::string_view reason{};   // Why it is denied; a constant.
  SpanText<64> request_id{};
  bool allowed = true;
  bool degraded = false;
  // Until it may pass: of a denial, or of a shaped request. Negative: never, or unknown.
  Duration wait{};
};

// Spans on their way from the threads that decide to the one that exports them: a ring of fixed
// size (Vyukov's bounded queue). What does not fit is dropped and counted. Pushing waits for
// nothing and allocates nothing.
class SpanQueue {
 public:
  // `capacity` is rounded up to a power of two, at least 2.
  explicit SpanQueue(std::size_t capacity = 2048);
  SpanQueue(const SpanQueue&) = delete;
  SpanQueue& operator=(const SpanQueue&) = delete;

  // Any thread.
  void Push(const Span& span) noexcept;
  // Moves up to `most` spans to the end of `spans`. One thread at a time.
  void Take(std::size_t most, std::vector<Span>& spans);

  // Spans that found no room.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_.Read(); }

 private:
  struct Cell {
    std::atomic<std::uint64_t> turn{0};  // See Push().
    Span span;
  };

  const std::size_t mask_;
  std::vector<Cell> cells_;
  alignas(kCacheLine) std::atomic<std::uint64_t> next_push_{0};
  alignas(kCacheLine) std::uint64_t next_take_ = 0;
  Counter dropped_;
};

}  // namespace sluice::telemetry
