#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/time.h"

namespace sluice::wire {

// google.rpc.Code: those that we send.
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

// "0" to "16", as in the trailer.
[[nodiscard]] std::string_view DigitsOf(GrpcCode code);

// Appends `text` as a grpc-message: percent-encoded except printable ASCII.
void AppendGrpcMessage(std::string& out, std::string_view text);

// A grpc-timeout: one to eight digits and a unit of H, M, S, m, u, n. nullopt for anything else.
[[nodiscard]] std::optional<Duration> ReadGrpcTimeout(std::string_view text);

// The five bytes before each message: whether it is compressed, and its length, big-endian.
inline constexpr std::size_t kGrpcPrefixBytes = 5;

// The one message of a unary call, or the reason for its absence.
struct GrpcMessage {
  std::string_view bytes;
  GrpcCode code = GrpcCode::kOk;
  std::string_view problem;
};

// Reads the whole body of a unary call. `encoding` is its grpc-encoding ("" for none); identity and
// gzip are known. `most` bounds the message, as it is after decompression. The message is a view of
// `body`, or of `inflated`.
[[nodiscard]] GrpcMessage ReadGrpcMessage(std::string_view body, std::string_view encoding,
                                          std::size_t most, std::string& inflated);

// Begins a message at the end of `out`. Append the message, then pass the returned value to
// EndGrpcMessage(), which writes the length.
[[nodiscard]] std::size_t BeginGrpcMessage(std::string& out);
void EndGrpcMessage(std::string& out, std::size_t begun);

// Messages of grpc.health.v1.Health.

enum class ServingStatus : std::uint8_t {
  kUnknown = 0,
  kServing = 1,
  kNotServing = 2,
  kServiceUnknown = 3,  // Watch only.
};

// The service that a HealthCheckRequest names; nullopt if the bytes are not one.
[[nodiscard]] std::optional<std::string_view> ReadHealthCheckRequest(std::string_view bytes);
void AppendHealthCheckResponse(std::string& out, ServingStatus status);

}  // namespace sluice::wire
