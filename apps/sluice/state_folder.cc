#include "state_folder.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <unistd.h>

#include "net/listener.h"

namespace sluice::app {

namespace {

// "" if unset. Asked at the start, before there are threads.
std::string_view VariableOf(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::string_view() : value;
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

}  // namespace sluice::app
