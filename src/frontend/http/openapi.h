#pragma once

#include <span>
#include <string>
#include <string_view>

#include "frontend/http/route.h"

namespace sluice::frontend::http {

// docs/openapi.json, which the build compiles into the program: all operations of all listeners.
extern const std::string_view kOpenApiSource;

// The OpenAPI description of one listener: of docs/openapi.json, the operations that `routes` serve
// and the components that these refer to. A node of the source that is marked ("x-sluice-role":
// "check", or "admin metrics") is there on listeners of these roles only. `has_token`: all
// operations but the open ones need the token; otherwise none does. Takes a millisecond.
//
// The source has an operation for every route, which tests/e2e/admin/openapi_test.py holds.
[[nodiscard]] std::string DescribeRoutes(std::span<const ServedRoute> routes, Role role,
                                         bool has_token);

// The description that a router returns, made at its first request. One thread.
class ListenerDescription {
 public:
  // `routes` outlive this.
  ListenerDescription(std::span<const ServedRoute> routes, Role role, bool has_token)
      : routes_(routes), role_(role), has_token_(has_token) {}

  [[nodiscard]] const std::string& Text();

 private:
  const std::span<const ServedRoute> routes_;
  const Role role_;
  const bool has_token_;
  std::string text_;
};

}  // namespace sluice::frontend::http
