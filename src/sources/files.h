#pragma once

#include <string>
#include <string_view>

#include "sluice/result.h"

namespace sluice::sources {

// All of a file, at most 64 MiB (yaml::kMaxTextBytes). Errors name the file and the reason.
[[nodiscard]] Result<std::string> ReadFile(const std::string& path);

// Puts `text` in place of the file at `path`, whole or not at all: written beside it, synced,
// renamed over it, and the folder synced, so that once this returns a loss of power loses
// nothing. Makes the folders on the way, for this user only. Errors name the path and the
// reason; the old file then stands.
[[nodiscard]] Result<void> WriteDurably(const std::string& path, std::string_view text);

// Takes the file away for good. A missing file is not an error.
[[nodiscard]] Result<void> RemoveDurably(const std::string& path);

}  // namespace sluice::sources
