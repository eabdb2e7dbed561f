#include "stores.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "control/log_event.h"
#include "daemon_files.h"
#include "net/timer_wheel.h"

namespace sluice::app {

namespace {

const char* Origin(const store::TableOpening& opening) {
  if (opening.resumed) {
    return ", resumed";
  }
  return opening.loaded_from.empty() ? "" : ", from its snapshot";
}

void LogOpening(const store::TableOpening& opening) {
  for (const std::string& warning : opening.warnings) {
    control::LogEvent(spdlog::level::warn, "table_warning", warning, {{"reason", warning}});
  }
  if (!opening.loaded_from.empty()) {
    control::LogEvent(spdlog::level::info, "table_loaded",
                      fmt::format("{} keys loaded from {}", opening.keys, opening.loaded_from),
                      {{"keys", opening.keys}, {"file", opening.loaded_from}});
  }
  if (opening.resized) {
    control::LogEvent(
        spdlog::level::info, "table_resized",
        fmt::format("table.keys or table.blocks has changed: {} keys moved", opening.keys),
        {{"keys", opening.keys}});
  }
  if (opening.requests_undone > 0) {
    control::LogEvent(spdlog::level::info, "table_repaired",
                      fmt::format("{} requests undone that a killed process had written halfway",
                                  opening.requests_undone),
                      {{"requests", static_cast<std::uint64_t>(opening.requests_undone)}});
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
  control::LogEvent(
      spdlog::level::warn, "table_without_snapshot",
      fmt::format(
          "every key starts with its full limit: this table has no snapshot ({}). {} of other "
          "tables "
          "in "
          "that folder: {}{}. To use one, stop this daemon, remove its table, and run sluice table "
          "restore FILE",
          snapshot, count == 1 ? "A snapshot" : fmt::format("{} snapshots", count),
          fmt::join(others, ", "), count > kShown ? ", ..." : ""),
      {{"file", snapshot}});
}

// Every loop has its own connection, and reports the same when Redis becomes unreachable: said
// once.
class EventLog {
 public:
  void Write(bool good, const std::string& text) {
    constexpr auto kSame = std::chrono::seconds(1);
    const auto now = std::chrono::steady_clock::now();
    {
      const std::lock_guard lock(mutex_);
      if (text == last_ && now - last_at_ < kSame) {
        return;
      }
      last_ = text;
      last_at_ = now;
    }
    control::LogEvent(good ? spdlog::level::info : spdlog::level::warn,
                      good ? "redis_connected" : "redis_trouble", text, {{"reason", text}});
  }

 private:
  std::mutex mutex_;
  std::string last_;
  std::chrono::steady_clock::time_point last_at_{};
};

redis::RedisSettings SettingsOf(const RedisConfig& config) {
  redis::RedisSettings settings;
  switch (config.kind) {
    case RedisKind::kServer:
      settings.target = config.servers.front();
      break;
    case RedisKind::kSentinel:
      settings.sentinel = {.sentinels = config.servers,
                           .primary = config.primary,
                           .username = config.sentinel_username,
                           .password_file = config.sentinel_password_file,
                           .password = config.sentinel_password};
      break;
    case RedisKind::kCluster:
      settings.cluster = config.servers;
      break;
  }
  settings.username = config.username;
  settings.password_file = config.password_file;
  settings.password = config.password;
  settings.count_nodes = !config.is_shared;
  // The last step that is not too late: an answer is due by the deadline, a timer rounds up.
  settings.channel.deadline = std::max(config.timeout - net::kTimerStep, Duration(net::kTimerStep));
  settings.channel.database = static_cast<int>(config.database);
  settings.channel.terse = config.is_shared;
  settings.channel.expiry_jitter_s = config.expiry_jitter_s;
  settings.opening.timeout = config.dial_timeout;
  if (config.tls) {
    settings.opening.tls = [tls = *config.tls] { return LoadClientTls(tls); };
    settings.opening.tls_name = config.tls->server_name;
  }
  return settings;
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
  registry.AddCounter("sluice_clock_steps_total",
                      "Steps of the node's wall clock by more than half a second.",
                      [&table] { return table.Stats().wall_clock_steps; });
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

std::unique_ptr<redis::RedisStore> MakeRedisStore(
    const RedisConfig& config, const RedisConfig* seconds, const base::Clock& clock,
    std::function<void(std::string_view secret)> on_secret) {
  redis::RedisSettings settings = SettingsOf(config);
  settings.on_secret = std::move(on_secret);
  return std::make_unique<redis::RedisStore>(
      std::move(settings), clock,
      [log = std::make_shared<EventLog>()](bool good, const std::string& text) {
        log->Write(good, text);
      },
      seconds == nullptr ? std::nullopt : std::optional(SettingsOf(*seconds)));
}

std::string Describe(const RedisConfig& config) {
  std::string text = "redis ";
  if (config.kind == RedisKind::kSentinel) {
    text += config.primary + " by Sentinel ";
  } else if (config.kind == RedisKind::kCluster) {
    text += "cluster ";
  }
  for (std::size_t i = 0; i < config.servers.size(); ++i) {
    text += (i == 0 ? "" : ", ") + config.servers[i].Text();
  }
  return text + (config.tls ? ", TLS" : "");
}

}  // namespace sluice::app
