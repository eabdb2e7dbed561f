#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "command.h"
#include "command_line.h"
#include "config_map.h"
#include "example_files.h"

// sluice init.
namespace sluice::app {

namespace {

namespace fs = std::filesystem;

struct InitOptions {
  std::string folder = ".";
  std::string proxy;
  bool force = false;
};

// What is written for a proxy: files of examples/, under the names that they have there. The first
// configuration of a daemon without one is made of the table of fields.
struct Kit {
  std::string_view proxy;  // "" for none.
  std::string_view folder;
  std::vector<std::string_view> files;  // The daemon's configuration first.
};

const std::vector<Kit>& Kits() {
  static const std::vector<Kit> kits{
      {"", "init", {"sluice.yaml", "rules.yaml"}},
      {"nginx", "proxies", {"sluice.yaml", "nginx.conf"}},
      {"caddy", "proxies", {"sluice.yaml", "Caddyfile"}},
      {"traefik", "proxies", {"sluice.yaml", "traefik.yaml"}},
      {"haproxy", "proxies", {"sluice.yaml", "haproxy.cfg", "sluice.lua"}},
      {"envoy", "envoy", {"sluice.yaml", "envoy.yaml", "config/shop.yaml"}},
  };
  return kits;
}

std::string TextOf(const std::string& name) {
  if (name == "init/sluice.yaml") {
    return FirstConfiguration();
  }
  const auto found = std::ranges::find(kExampleFiles, name, &EmbeddedFile::name);
  SLUICE_ASSERT(found != kExampleFiles.end());  // CMakeLists.txt lacks a file of Kits().
  return std::string(found->text);
}

int Init(const InitOptions& options) {
  const auto kit = std::ranges::find(Kits(), std::string_view(options.proxy), &Kit::proxy);
  const fs::path folder = options.folder;
  for (const std::string_view file : kit->files) {
    if (!options.force && fs::exists(folder / file)) {
      std::fprintf(stderr,
                   "sluice: %s exists, so nothing was written: use --force to overwrite it\n",
                   (folder / file).c_str());
      return kExitError;
    }
  }
  for (const std::string_view file : kit->files) {
    const fs::path path = folder / file;
    std::error_code error;
    if (path.has_parent_path()) {
      fs::create_directories(path.parent_path(), error);
    }
    std::ofstream out(path, std::ios::binary);
    out << TextOf(std::string(kit->folder) + "/" + std::string(file)) << std::flush;
    if (!out) {
      std::fprintf(stderr, "sluice: %s cannot be written\n", path.c_str());
      return kExitError;
    }
    std::printf("wrote %s\n", path.c_str());
  }
  std::printf("next: sluice serve --config %s\n", (folder / kit->files.front()).c_str());
  return kExitOk;
}

}  // namespace

void AddInit(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<InitOptions>();
  Command& command = AddCommand(
      app, "init", "Write a first configuration, with comments",
      {.notes = "Writes sluice.yaml and rules.yaml. With --proxy, writes a configuration for use "
                "behind that proxy, and the matching part of the proxy's own configuration. Adapt "
                "the addresses.",
       .examples = {{"A daemon for your own services", "sluice init first"},
                    {"A daemon behind NGINX", "sluice init --proxy nginx behind-nginx"}}});
  std::vector<std::string> proxies;
  for (const Kit& kit : Kits()) {
    if (!kit.proxy.empty()) {
      proxies.emplace_back(kit.proxy);
    }
  }
  command
      .add_option("folder", options->folder,
                  "The folder to write to; without it: the current folder")
      ->type_name("DIR");
  command.add_option("--proxy", options->proxy, "The proxy in front of your services")
      ->check(CLI::IsMember(proxies));
  command.add_flag("--force", options->force, "Overwrite files that exist");
  command.callback([options, &exit_code] { exit_code = Init(*options); });
}

}  // namespace sluice::app
