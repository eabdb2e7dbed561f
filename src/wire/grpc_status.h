#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/time.h"

namespace sluice::wire {

// google.rpc.Code, as far as we say them.
enum class GrpcCode : std::uint8_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kUnauthenticated = 16,
};

// "0" to "16", as the trailer has it.
[[nodiscard]] std::string_view DigitsOf(GrpcCode code);

// Appends `text` as grpc-message wants it: percent-encoded outside of printable ASCII.
void AppendGrpcMessage(std::string& out, std::string_view text);

// A grpc-timeout: one to eight digits and a unit of H, M, S, m, u, n. nullopt for anything else.
[[nodiscard]] std::optional<Duration> ReadGrpcTimeout(std::string_view text);

}  // namespace sluice::wire
