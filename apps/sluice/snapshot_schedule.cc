#include "snapshot_schedule.h"

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "control/log_event.h"

namespace sluice::app {

namespace {

std::int64_t SteadyNs() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double Seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

}  // namespace

SnapshotSchedule::SnapshotSchedule(store::Table& table, std::string path, Duration interval)
    : table_(table), path_(std::move(path)), interval_(interval) {}

SnapshotSchedule::~SnapshotSchedule() {
  Stop();
}

void SnapshotSchedule::Start() {
  if (path_.empty() || interval_ <= Duration::zero()) {
    return;
  }
  thread_.Start("sluice-snapshot", interval_, [this] {
    WriteOne();
    return interval_;
  });
}

void SnapshotSchedule::Stop() {
  if (thread_.Stop()) {
    WriteOne();
  }
}

void SnapshotSchedule::WriteOne() {
  const std::int64_t begun = SteadyNs();
  std::error_code none;  // Where the folder cannot be made, the file cannot either, and says why.
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), none);
  const auto report = table_.WriteSnapshot();
  if (!report) {
    ++failed_;
    if (std::string text = report.error().Text(); text != complaint_) {
      control::LogEvent(spdlog::level::err, "snapshot_failed",
                        fmt::format("{}; decisions continue, next attempts every {} ms", text,
                                    interval_ / std::chrono::milliseconds(1)),
                        {{"file", path_}, {"reason", text}});
      complaint_ = std::move(text);
    }
    return;
  }
  const std::int64_t ended = SteadyNs();
  if (!std::exchange(complaint_, {}).empty()) {
    control::LogEvent(spdlog::level::info, "snapshot_works_again",
                      path_ + ": snapshots can be written again", {{"file", path_}});
  }
  ++written_;
  bytes_ = report->bytes;
  took_ns_ = ended - begun;
  newest_at_ns_ = ended;
  control::LogEvent(spdlog::level::debug, "snapshot_written",
                    fmt::format("snapshot of {} keys, {} bytes, in {:.3f} s", report->keys,
                                report->bytes, Seconds(ended - begun)),
                    {{"keys", report->keys}, {"bytes", report->bytes}});
}

void SnapshotSchedule::AddMetrics(telemetry::Registry& registry) const {
  registry.AddCounter("sluice_table_snapshots_total", "Snapshots of the table written.",
                      [this] { return written_.load(); });
  registry.AddCounter("sluice_table_snapshot_failures_total",
                      "Snapshots of the table that could not be written.",
                      [this] { return failed_.load(); });
  registry.AddGauge("sluice_table_snapshot_bytes", "Size of the newest snapshot, in bytes.",
                    [this] { return static_cast<double>(bytes_.load()); });
  registry.AddGauge("sluice_table_snapshot_duration_seconds",
                    "Time taken to write the newest snapshot, in seconds.",
                    [this] { return Seconds(took_ns_.load()); });
  registry.AddGauge("sluice_table_snapshot_age_seconds",
                    "Age of the newest snapshot of this process, in seconds; 0 if there is none.",
                    [this] {
                      const std::int64_t at = newest_at_ns_.load();
                      return at == 0 ? 0.0 : Seconds(SteadyNs() - at);
                    });
}

}  // namespace sluice::app
