#pragma once

#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace sluice::app {

// A shell's script that completes the program's commands, options, choices and files. `app` is the
// root: all of it comes from what CLI11 knows. `shell` is bash, zsh or fish; "" for any other.
[[nodiscard]] std::string CompletionScript(const CLI::App& app, std::string_view shell);

}  // namespace sluice::app
