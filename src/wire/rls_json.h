#pragma once

#include <string>
#include <string_view>

#include "wire/rls_request.h"

namespace sluice::wire {

// Reads RateLimitRequest in proto3's JSON mapping: names in camelCase or as in the schema, numbers
// as numbers or in quotes, null for absent values; unknown members are refused. The JSON is copied
// and decoded in place, and the request has views of that copy. Keep both per request and reuse
// them. Never throws.
class RlsJson {
 public:
  // False: it is not one; `error` says what is wrong, and where.
  [[nodiscard]] bool Read(std::string_view json, RlsRequest& request);
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  std::string text_;
  std::string error_;
};

}  // namespace sluice::wire
