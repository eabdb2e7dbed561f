#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>

namespace sluice::base {

// The trace that a request belongs to, by its `traceparent` field (W3C Trace Context, 3.2): who
// asked, and whether that caller records the trace. Only a sampled trace is kept. Allocates
// nothing. One thread.
class TraceParent {
 public:
  // As a new one: no sampled trace.
  void Clear() { sampled_ = false; }

  // The field's text. Of version 00 it must be exactly the four parts; of a later version it may go
  // on behind them. What is malformed, or not sampled, is taken for no trace. Notes the time at
  // which a sampled request came.
  void Take(std::string_view text);

  [[nodiscard]] bool sampled() const { return sampled_; }
  // Valid if sampled.
  [[nodiscard]] const std::array<std::uint8_t, 16>& trace_id() const { return trace_id_; }
  // 32 hex digits, as a view of this.
  [[nodiscard]] std::string_view TraceIdText() const {
    return {trace_id_text_.data(), trace_id_text_.size()};
  }
  [[nodiscard]] const std::array<std::uint8_t, 8>& parent_id() const { return parent_id_; }
  [[nodiscard]] std::chrono::steady_clock::time_point taken_at() const { return taken_at_; }

 private:
  bool sampled_ = false;
  std::array<std::uint8_t, 16> trace_id_;  // NOLINT: read only if sampled.
  std::array<char, 32> trace_id_text_;     // NOLINT: the same.
  std::array<std::uint8_t, 8> parent_id_;  // NOLINT: the same.
  std::chrono::steady_clock::time_point taken_at_;
};

}  // namespace sluice::base
