#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "command.h"
#include "command_line.h"
#include "config_map.h"
#include "manual.h"

// sluice manual, which the build runs.
namespace sluice::app {

namespace {

namespace fs = std::filesystem;

int WritePages(const CLI::App& app, const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  const auto write = [&](const std::string& name, const CLI::App& of) {
    std::ofstream page(fs::path(folder) / (name + ".1"), std::ios::binary);
    page << ManualPage(of) << std::flush;
    return page.good();
  };
  bool written = !error && write("sluice", app);
  for (const Command* command : CommandsOf(app)) {
    written = written && write("sluice-" + command->get_name(), *command);
  }
  if (!written) {
    std::fprintf(stderr, "sluice: %s: cannot be written\n", folder.c_str());
    return kExitError;
  }
  return kExitOk;
}

}  // namespace

void AddManual(CLI::App& app, int& exit_code) {
  struct Options {
    std::string folder;
    bool markdown = false;
    bool configuration = false;
  };
  auto options = std::make_shared<Options>();
  Command& command = AddCommand(
      app, "manual", "Write the manual pages, or a reference",
      {.notes = "Packages and cmake --install put the pages where man looks for them.",
       .examples = {{"Write the pages into a folder, and read one",
                     "sluice manual --to man1 && man ./man1/sluice-check.1"},
                    {"The command line reference as Markdown", "sluice manual --markdown"},
                    {"The configuration reference as Markdown", "sluice manual --configuration"}}});
  auto* const to = command.add_option("--to", options->folder, "Write one page per command here")
                       ->type_name("DIR");
  auto* const markdown =
      command.add_flag("--markdown", options->markdown, "Print docs/cli.md")->excludes(to);
  command
      .add_flag("--configuration", options->configuration, "Print docs/configuration-reference.md")
      ->excludes(to)
      ->excludes(markdown);
  command.callback([options, &app, &exit_code] {
    if (!options->folder.empty()) {
      exit_code = WritePages(app, options->folder);
      return;
    }
    const std::string text = options->configuration ? ConfigurationReference()
                             : options->markdown    ? MarkdownReference(app)
                                                    : ManualPage(app);
    std::fputs(text.c_str(), stdout);
    exit_code = kExitOk;
  });
}

}  // namespace sluice::app
