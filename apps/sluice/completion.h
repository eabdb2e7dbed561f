#pragma once

#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace sluice::app {

// A shell's completion script for commands, options, choices and files, derived from `app`, the
// root command. `shell`: bash, zsh or fish; "" for any other.
[[nodiscard]] std::string CompletionScript(const CLI::App& app, std::string_view shell);

}  // namespace sluice::app
