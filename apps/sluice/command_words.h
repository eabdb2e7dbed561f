#pragma once

#include <span>
#include <string>

#include <CLI/CLI.hpp>

namespace sluice::app {

// What is wrong with the commands and options among `words` (argv without the program), with a
// guess at what was meant; "" if all of them are known. Values are not looked at.
[[nodiscard]] std::string FindUnknownWord(const CLI::App& app, std::span<char* const> words);

}  // namespace sluice::app
