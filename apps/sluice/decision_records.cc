#include "decision_records.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "control/log_event.h"
#include "records/decision_json.h"

namespace sluice::app {

namespace {

using std::chrono::milliseconds;

// Of each thread that decides. The log is for many more records than the last decisions.
constexpr std::size_t kQueueBytes = std::size_t{256} * 1024;
constexpr std::size_t kQueueBytesWithLog = std::size_t{4} << 20U;

constexpr milliseconds kInterval{250};  // Of the shares that the last decisions take.
constexpr milliseconds kPause{50};      // Between two looks for the log,
constexpr milliseconds kShortPause{5};  // and while much is to be written.
constexpr std::size_t kMuch = 1'000;

records::DecisionLog::Options LogOptions(const DecisionLogConfig& config) {
  return {
      .path = config.path,
      .max_bytes = config.max_bytes,
      .keep = static_cast<std::uint32_t>(config.keep),
      .on_trouble = [](const std::string& trouble) {
        if (trouble.empty()) {
          control::LogEvent(spdlog::level::info, "decision_log_works_again",
                            "the decision log can be written again");
        } else {
          control::LogEvent(
              spdlog::level::err, "decision_log_failed",
              trouble +
                  ": lines of the decision log are dropped and counted until it can be written; "
                  "decisions continue",
              {{"reason", trouble}});
        }
      }};
}

void LogTrace(const insight::KeptRequest& request) {
  std::string json;
  records::AppendDecision(request, json);
  control::LogEvent(spdlog::level::info, "request", "request " + json,
                    {{"request_id", request.request_id},
                     {"listener", request.listener},
                     control::LogField::Json("request", json)});
}

}  // namespace

Result<std::unique_ptr<DecisionRecords>> DecisionRecords::Open(const DaemonConfig& config,
                                                               insight::RecordQueue& queue,
                                                               const base::Clock& clock) {
  std::unique_ptr<records::DecisionLog> log;
  if (config.decision_log) {
    auto opened = records::DecisionLog::Open(LogOptions(*config.decision_log));
    if (!opened) {
      return tl::unexpected(Error{
          .message = "the decision log: " + opened.error().Text() +
                     "\n  make its directory, or set another path: decision_log: {path: FILE}"});
    }
    log = *std::move(opened);
  }
  return std::unique_ptr<DecisionRecords>(
      new DecisionRecords(config, std::move(log), queue, clock));
}

DecisionRecords::DecisionRecords(const DaemonConfig& config,
                                 std::unique_ptr<records::DecisionLog> log,
                                 insight::RecordQueue& queue, const base::Clock& clock)
    : log_(std::move(log)),
      queue_(queue),
      history_(config.decisions.mebibytes << 20U),
      collector_(queue, clock, history_, log_.get(), LogTrace) {
  insight::RecordQueue::LogShares shares;
  if (config.decision_log) {
    shares = {.allowed = config.decision_log->sample, .denied = config.decision_log->denied_sample};
  }
  const bool keeps_history = config.decisions.mebibytes != 0;
  queue.Open(log_ != nullptr ? kQueueBytesWithLog : kQueueBytes, keeps_history, shares);
  collector_.SetTrace({.per_second = static_cast<std::uint32_t>(config.log_requests)});
}

DecisionRecords::~DecisionRecords() {
  Stop();
}

void DecisionRecords::Start() {
  const auto turn = [this, next_interval = std::chrono::steady_clock::now()]() mutable -> Duration {
    std::size_t count = 0;
    if (const auto now = std::chrono::steady_clock::now(); now >= next_interval) {
      next_interval = now + kInterval;
      count = collector_.CollectInterval();
    } else {
      count = collector_.Collect();
    }
    collector_.WriteLog();
    return log_ == nullptr ? kInterval : count >= kMuch ? kShortPause : kPause;
  };
  thread_.Start("sluice-records", Duration(0), turn);
}

void DecisionRecords::Stop() {
  if (thread_.Stop()) {
    collector_.Collect();
    collector_.WriteLog();
  }
}

void DecisionRecords::Reopen() {
  if (log_ != nullptr) {
    log_->Reopen();
  }
}

void DecisionRecords::AddMetrics(telemetry::Registry& registry) const {
  registry.AddGauge("sluice_decisions_kept", "Last decisions that can be listed.",
                    [this] { return static_cast<double>(history_.size()); });
  registry.AddCounter("sluice_decision_records_dropped_total",
                      "Records of decisions dropped because their collector was late.",
                      [this] { return queue_.dropped(); });
  registry.AddCounter("sluice_decision_log_lines_total", "Lines written to the decision log.",
                      [this] { return log_ != nullptr ? log_->written() : 0; });
  registry.AddCounter(
      "sluice_decision_log_lines_dropped_total",
      "Lines of the decision log dropped because it was slow or not writable.",
      [this] { return collector_.dropped_lines() + (log_ != nullptr ? log_->failed() : 0); });
  registry.AddCounter("sluice_decision_log_rotations_total", "Rotations of the decision log.",
                      [this] { return log_ != nullptr ? log_->rotations() : 0; });
}

}  // namespace sluice::app
