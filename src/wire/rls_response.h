#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/struct_value.h"

namespace sluice::wire {

enum class RlsCode : std::uint8_t { kUnknown = 0, kOk = 1, kOverLimit = 2 };

// envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus. The lifetime of the views is up to
// the code that fills it.
struct RlsStatus {
  RlsCode code = RlsCode::kOk;
  bool has_limit = false;  // The duration is sent only with it.
  std::uint32_t requests_per_unit = 0;
  std::uint32_t unit = 0;
  std::string_view unit_name = "UNKNOWN";  // For JSON.
  std::string_view name;
  std::uint32_t limit_remaining = 0;
  std::int64_t seconds_until_reset = 0;
};

struct RlsHeader {
  std::string_view key;
  std::string value;
};

// envoy.service.ratelimit.v3.RateLimitResponse: the fields that services use.
struct RlsResponse {
  RlsCode overall_code = RlsCode::kUnknown;
  std::vector<RlsStatus> statuses;
  std::vector<RlsHeader> response_headers_to_add;
  StructValue dynamic_metadata;  // Null: absent.

  void Clear();
  void AppendMessage(std::string& out) const;
  // In proto3's JSON mapping: names in lowerCamelCase, without default values.
  void AppendJson(std::string& out) const;
};

}  // namespace sluice::wire
