#pragma once

#include <string_view>

namespace sluice::frontend::http {

// docs/openapi.json, which the build puts into the program.
extern const std::string_view kOpenApi;

}  // namespace sluice::frontend::http
