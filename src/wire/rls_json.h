#pragma once

#include <string>
#include <string_view>

#include "wire/rls_request.h"

namespace sluice::wire {

// Reads RateLimitRequest in proto3's JSON mapping: names in camelCase or as they are in the schema,
// numbers as numbers or in quotes, null for what is absent; unknown members are refused. `text` is
// the room that the JSON is kept in, decoded where it stands: the request's views are of it. Keep
// both per request and reuse them. Never throws.
class RlsJson {
 public:
  // False: it is none; `error` says what and where.
  [[nodiscard]] bool Read(std::string_view json, RlsRequest& request);
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  std::string text_;
  std::string error_;
};

}  // namespace sluice::wire
