#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Messages of sluice.v1.RateLimit/Check: proto/sluice/v1/ratelimit.proto. Those of its other calls
// are in native_redemption.h.
namespace sluice::wire {

// Texts are views of the bytes that Read() was given.
struct NativeCheckRequest {
  std::vector<std::pair<std::string_view, std::string_view>> attributes;
  std::optional<std::int64_t> cost;
  std::string_view rule;
  bool peek = false;
  bool receipt = false;
  bool reserve = false;

  // False: the bytes are not such a message. Never throws.
  [[nodiscard]] bool Read(std::string_view bytes);
};

struct NativeDecision {
  std::string_view rule;
  bool allowed = false;
  std::string_view reason;
  bool shadow = false;
  bool degraded = false;
  std::optional<std::int64_t> limit;  // None: unlimited.
  std::optional<std::int64_t> remaining;
  std::optional<std::int64_t> retry_after_ns;  // None: never, or unknown.
  std::int64_t reset_after_ns = 0;
};

struct NativeHold {
  std::string_view rule;
  std::string_view id;
};

struct NativeCheckResponse {
  bool allowed = false;
  std::int64_t wait_ns = 0;
  int governing = -1;  // The index of the decision that the response's own numbers come from.
  std::vector<NativeDecision> decisions;
  std::vector<NativeHold> holds;
  std::string_view receipt;
  std::string_view reservation;
  bool kill_switch = false;

  void AppendMessage(std::string& out) const;
};

}  // namespace sluice::wire
