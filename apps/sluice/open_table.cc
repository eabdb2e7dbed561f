#include "open_table.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "state_folder.h"

namespace sluice::app {

namespace {

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

const char* Origin(const store::TableOpening& opening) {
  if (opening.resumed) {
    return ", resumed";
  }
  return opening.loaded_from.empty() ? "" : ", from its snapshot";
}

void LogOpening(const store::TableOpening& opening) {
  for (const std::string& warning : opening.warnings) {
    spdlog::warn("{}", warning);
  }
  if (!opening.loaded_from.empty()) {
    spdlog::info("{} keys loaded from {}", opening.keys, opening.loaded_from);
  }
  if (opening.resized) {
    spdlog::info("table.keys or table.blocks has changed: {} keys moved", opening.keys);
  }
  if (opening.requests_undone > 0) {
    spdlog::info("{} requests undone that a killed process had written halfway",
                 opening.requests_undone);
  }
}

// All keys are fresh. Where the folder has snapshots all the same, perhaps one of them is this
// table's, from before its path was another.
void WarnOfOtherSnapshots(const std::string& snapshot) {
  constexpr std::size_t kShown = 3;
  namespace fs = std::filesystem;
  std::vector<std::string> others;
  std::error_code error;
  fs::directory_iterator at(fs::path(snapshot).parent_path(), error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    if (at->path().extension() == ".snapshot" && at->path() != snapshot) {
      others.push_back(at->path().string());
    }
  }
  if (snapshot.empty() || others.empty()) {
    return;
  }
  std::ranges::sort(others);
  const std::size_t count = others.size();
  others.resize(std::min(count, kShown));
  spdlog::warn(
      "every key starts with its full limit: this table has no snapshot ({}). {} of other tables "
      "in "
      "that folder: {}{}. To use one, stop this daemon, remove its table, and run sluice table "
      "restore FILE",
      snapshot, count == 1 ? "A snapshot" : fmt::format("{} snapshots", count),
      fmt::join(others, ", "), count > kShown ? ", ..." : "");
}

}  // namespace

void OpenedTable::AddMetrics(telemetry::Registry& registry) const {
  store::Table& table = *store;
  registry.AddGauge("sluice_table_slots", "Slots for keys in the table.",
                    [&table] { return static_cast<double>(table.Stats().slots); });
  registry.AddGauge("sluice_table_live_slots", "Approximate number of slots in use.",
                    [&table] { return static_cast<double>(table.Stats().live_slots); });
  registry.AddGauge("sluice_table_blocks",
                    "Blocks for logs, sliding windows and holds in the table.",
                    [&table] { return static_cast<double>(table.Stats().blocks); });
  registry.AddGauge("sluice_table_blocks_in_use", "Blocks in use.",
                    [&table] { return static_cast<double>(table.Stats().blocks_in_use); });
  registry.AddCounter("sluice_table_inserts_total", "New keys.",
                      [&table] { return table.Stats().inserts; });
  registry.AddCounter("sluice_table_evictions_total",
                      "Keys evicted because slots or blocks ran out.", [&table] {
                        const store::TableStats stats = table.Stats();
                        return stats.evictions + stats.block_evictions;
                      });
  registry.AddCounter("sluice_table_full_denials_total",
                      "Checks denied because the table was full.",
                      [&table] { return table.Stats().full_denials; });
  registry.AddCounter("sluice_table_full_allows_total",
                      "Checks allowed uncounted because the table was full.",
                      [&table] { return table.Stats().full_allows; });
  registry.AddCounter("sluice_table_bans_total", "Bans caused by denials.",
                      [&table] { return table.Stats().bans; });
}

TableFiles FilesOf(const DaemonConfig& config) {
  TableFiles files{.path = config.table.path.empty() ? DefaultPath(config) : config.table.path,
                   .snapshot = {}};
  files.snapshot = SnapshotPath(config.table, files.path);
  return files;
}

Result<OpenedTable> OpenTable(const DaemonConfig& config, const base::Clock& clock) {
  const auto [path, snapshot] = FilesOf(config);
  auto table = store::Table::Create({.path = path,
                                     .keys = config.table.keys,
                                     .blocks = config.table.blocks,
                                     .when_full = config.table.when_full,
                                     .snapshot = snapshot},
                                    clock);
  if (!table) {
    Error error = table.error();
    error.message +=
        "\n  table: {path: ..., keys: ...} in the configuration sets its path "
        "and its size";
    return tl::unexpected(std::move(error));
  }
  OpenedTable opened;
  opened.store = *std::move(table);
  opened.snapshot = snapshot;
  LogOpening(opened.store->opening());
  if (!opened.store->opening().resumed && opened.store->opening().loaded_from.empty()) {
    WarnOfOtherSnapshots(snapshot);
  }
  opened.description =
      fmt::format("table {}, {} keys, {} MiB{}", path.empty() ? "in memory" : path,
                  config.table.keys, opened.store->bytes() >> 20, Origin(opened.store->opening()));
  return opened;
}

}  // namespace sluice::app
