#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Messages of grpc.health.v1.Health.
namespace sluice::wire {

enum class ServingStatus : std::uint8_t {
  kUnknown = 0,
  kServing = 1,
  kNotServing = 2,
  kServiceUnknown = 3,  // Watch only.
};

// The service that a HealthCheckRequest names; nullopt where the bytes are none.
[[nodiscard]] std::optional<std::string_view> ReadHealthCheckRequest(std::string_view bytes);
void AppendHealthCheckResponse(std::string& out, ServingStatus status);

}  // namespace sluice::wire
