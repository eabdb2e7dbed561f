#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace sluice::app {

// The manual page of a command in the macros of man(7): sluice(1) for the root, sluice-check(1) for
// a command, including its subcommands.
[[nodiscard]] std::string ManualPage(const CLI::App& app);

// The same for all commands as one page of Markdown: docs/cli.md.
[[nodiscard]] std::string MarkdownReference(const CLI::App& app);

}  // namespace sluice::app
