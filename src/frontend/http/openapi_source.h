#pragma once

#include <string_view>

namespace sluice::frontend::http {

// docs/openapi.json, which the build puts into the program: all operations of all listeners.
extern const std::string_view kOpenApiSource;

}  // namespace sluice::frontend::http
