#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::frontend::grpc {

// The methods that a front end has.
enum class Method : std::uint8_t {
  kUnknown,
  kShouldRateLimit,
  kHealthCheck,
  kHealthWatch,
  kCheck,
  kRelease,
  kRenew,
  kSettle,
  kRefund,
};

// By a call's path; kUnknown where no service has it.
[[nodiscard]] Method MethodAt(std::string_view path);

// Whether a content-type is gRPC's: application/grpc, with +proto or parameters behind it.
[[nodiscard]] bool IsGrpc(std::string_view content_type);

}  // namespace sluice::frontend::grpc
