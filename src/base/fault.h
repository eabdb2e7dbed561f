#pragma once

#include <string>
#include <utility>

#include "sluice/result.h"

namespace sluice {

// What a function returns whose Result is a failure.
[[nodiscard]] inline tl::unexpected<Error> Fault(std::string message) {
  return tl::unexpected(Error{.message = std::move(message)});
}

// The same of a file; its lines are not reported.
[[nodiscard]] inline tl::unexpected<Error> FileFault(std::string file, std::string message) {
  return tl::unexpected(Error{.message = std::move(message), .place = {.file = std::move(file)}});
}

}  // namespace sluice
