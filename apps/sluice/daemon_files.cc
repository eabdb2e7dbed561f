#include "daemon_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "net/listener.h"

namespace sluice::app {

namespace {

// "" if unset. Asked at the start, before there are threads.
std::string_view VariableOf(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::string_view() : value;
}

std::string DefaultPath(const DaemonConfig& config) {
  const std::string port = FirstCheckPort(config);
  return port.empty() ? "" : fmt::format("/dev/shm/sluice-{}-{}.table", ::getuid(), port);
}

// Each table of a folder has its own names: "dev-shm-sluice-0-8080.table.snapshot".
std::string SnapshotPath(const TableConfig& config, const std::string& table_path) {
  const std::string folder = config.snapshots.empty() ? StateHome() : config.snapshots;
  if (table_path.empty() || folder.empty() || config.snapshot_interval <= Duration::zero()) {
    return "";
  }
  std::string name = std::filesystem::absolute(table_path).lexically_normal().string().substr(1);
  std::replace(name.begin(), name.end(), '/', '-');
  return folder + "/" + name + ".snapshot";
}

}  // namespace

std::string FirstCheckPort(const DaemonConfig& config) {
  for (const ListenerConfig& listener : config.listeners) {
    const auto endpoint = net::ParseAddress(listener.address);
    if (listener.role == frontend::http::Role::kCheck && endpoint && endpoint->port() != 0) {
      return std::to_string(endpoint->port());
    }
  }
  return "";
}

std::string StateHome() {
  if (const std::string_view folders = VariableOf("STATE_DIRECTORY"); !folders.empty()) {
    return std::string(folders.substr(0, folders.find(':')));
  }
  if (::geteuid() == 0) {
    return "/var/lib/sluice";
  }
  std::filesystem::path state = VariableOf("XDG_STATE_HOME");
  if (state.empty()) {
    const std::string_view home = VariableOf("HOME");
    state = home.empty() ? "" : std::filesystem::path(home) / ".local" / "state";
  }
  // A relative path here would depend on where the daemon was started from.
  return state.is_absolute() ? (state / "sluice").string() : "";
}

std::string ApiFolder(const DaemonConfig& config) {
  if (!config.api_folder.empty()) {
    return config.api_folder;
  }
  std::string home = StateHome();
  if (home.empty() || !VariableOf("STATE_DIRECTORY").empty()) {  // This service's alone.
    return home;
  }
  const std::string port = FirstCheckPort(config);
  return port.empty() ? "" : home + "/" + port;
}

TableFiles FilesOf(const DaemonConfig& config) {
  TableFiles files{.path = config.table.path.empty() ? DefaultPath(config) : config.table.path,
                   .snapshot = {}};
  files.snapshot = SnapshotPath(config.table, files.path);
  return files;
}

}  // namespace sluice::app
