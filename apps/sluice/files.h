#pragma once

#include <string>

#include "sluice/result.h"

namespace sluice::app {

// All of a file, at most 64 MiB; the error names the file and says why not.
[[nodiscard]] Result<std::string> ReadFile(const std::string& path);

}  // namespace sluice::app
