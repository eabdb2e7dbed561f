#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/native_check.h"

// Messages of the calls of sluice.v1.RateLimit that redeem tokens of a check:
// proto/sluice/v1/ratelimit.proto. Texts are views of the bytes that Read() was given.
namespace sluice::wire {

// Of Release and Renew.
struct NativeHoldsRequest {
  std::vector<NativeHold> holds;

  // False: the bytes are not such a message. Never throws. The same applies to the others.
  [[nodiscard]] bool Read(std::string_view bytes);
};

struct NativeSettleRequest {
  std::string_view reservation;
  std::optional<std::int64_t> cost;
  std::vector<std::pair<std::string_view, std::int64_t>> costs;

  [[nodiscard]] bool Read(std::string_view bytes);
};

struct NativeRefundRequest {
  std::string_view receipt;

  [[nodiscard]] bool Read(std::string_view bytes);
};

// ReleaseResponse, RenewResponse.
void AppendHoldsResponse(std::string& out, std::int32_t count);
// One item of a SettleResponse, a RefundResponse.
void AppendSettled(std::string& out, std::string_view rule, std::int64_t charged,
                   std::int64_t cost);
void AppendRefunded(std::string& out, std::string_view rule, std::int64_t units);

}  // namespace sluice::wire
