#pragma once

#include <span>
#include <string>

#include <CLI/CLI.hpp>

namespace sluice::app {

// The message for the first unknown command or option in `words` (argv without the program), with a
// suggestion; "" if all are known. Values are not checked.
[[nodiscard]] std::string FindUnknownWord(const CLI::App& app, std::span<char* const> words);

}  // namespace sluice::app
