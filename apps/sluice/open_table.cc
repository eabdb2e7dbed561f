#include "open_table.h"

#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "net/listener.h"

namespace sluice::app {

namespace {

std::string DefaultPath(const DaemonConfig& config) {
  for (const ListenerConfig& listener : config.listeners) {
    const auto endpoint = net::ParseAddress(listener.address);
    if (listener.role == frontend::http::Role::kCheck && endpoint && endpoint->port() != 0) {
      return fmt::format("/dev/shm/sluice-{}-{}.table", ::getuid(), endpoint->port());
    }
  }
  return "";
}

store::WhenFull PolicyOf(WhenFull when_full) {
  switch (when_full) {
    case WhenFull::kEvict:
      return store::WhenFull::kEvict;
    case WhenFull::kAllow:
      return store::WhenFull::kAllow;
    case WhenFull::kDeny:
      return store::WhenFull::kDeny;
  }
  return store::WhenFull::kEvict;
}

}  // namespace

void OpenedTable::AddMetrics(telemetry::Registry& registry) const {
  store::Table& table = *store;
  registry.AddGauge("sluice_table_slots", "Keys that the table has room for.",
                    [&table] { return static_cast<double>(table.Stats().slots); });
  registry.AddGauge("sluice_table_live_slots", "Keys that are not fresh, about.",
                    [&table] { return static_cast<double>(table.Stats().live_slots); });
  registry.AddGauge("sluice_table_blocks", "Blocks for logs, sliding windows and holds.",
                    [&table] { return static_cast<double>(table.Stats().blocks); });
  registry.AddGauge("sluice_table_blocks_in_use", "Blocks that hold something.",
                    [&table] { return static_cast<double>(table.Stats().blocks_in_use); });
  registry.AddCounter("sluice_table_inserts_total", "Keys that got a slot.",
                      [&table] { return table.Stats().inserts; });
  registry.AddCounter("sluice_table_evictions_total",
                      "Keys forgotten before their time, for want of slots or blocks.", [&table] {
                        const store::TableStats stats = table.Stats();
                        return stats.evictions + stats.block_evictions;
                      });
  registry.AddCounter("sluice_table_full_denials_total", "Checks denied for want of room.",
                      [&table] { return table.Stats().full_denials; });
  registry.AddCounter("sluice_table_full_allows_total",
                      "Checks let through unmetered for want of room.",
                      [&table] { return table.Stats().full_allows; });
}

Result<OpenedTable> OpenTable(const DaemonConfig& config, const base::Clock& clock) {
  const std::string path = config.table.path.empty() ? DefaultPath(config) : config.table.path;
  auto table = store::Table::Create({.path = path,
                                     .keys = config.table.keys,
                                     .blocks = config.table.blocks,
                                     .when_full = PolicyOf(config.table.when_full)},
                                    clock);
  if (!table) {
    Error error = table.error();
    error.message +=
        "\n  table: {path: ..., keys: ...} in the configuration sets where it lives "
        "and how large it is";
    return tl::unexpected(std::move(error));
  }
  OpenedTable opened;
  opened.store = *std::move(table);
  opened.description = fmt::format("table {}, {} keys, {} MiB{}", path.empty() ? "in memory" : path,
                                   config.table.keys, opened.store->bytes() >> 20,
                                   opened.store->resumed() ? ", resumed" : "");
  return opened;
}

}  // namespace sluice::app
