#pragma once

#include <memory>
#include <string_view>

#include "sluice/result.h"

#include "daemon_config.h"
#include "net/event_loop.h"
#include "net/fd_watcher.h"
#include "service/limiter_service.h"
#include "service/service_metrics.h"
#include "sources/file_source.h"
#include "sources/rule_reloader.h"

namespace sluice::app {

// Keeps the rules of the configuration's sources in force: at start, and again whenever a file
// changes or the operator says so. What does not load leaves the running rules in force; the
// log says why, once for the same texts, and sluice_rule_reloads_total counts it. One thread:
// the loop's.
class RuleKeeper {
 public:
  // All outlive it. Errors: the kernel gives no inotify descriptor.
  [[nodiscard]] static Result<std::unique_ptr<RuleKeeper>> Create(net::EventLoop& loop,
                                                                  service::LimiterService& service,
                                                                  service::ServiceMetrics& metrics,
                                                                  const DaemonConfig& config);

  // At start there are no running rules to fall back on: the error has every problem, a line
  // each. Changes are followed from here on.
  [[nodiscard]] Result<void> LoadFirst();

  // Reads everything anew because an operator asks.
  void ReloadOnDemand();

 private:
  RuleKeeper(net::EventLoop& loop, service::LimiterService& service,
             service::ServiceMetrics& metrics, const DaemonConfig& config,
             sources::FileSource files);

  [[nodiscard]] Result<std::vector<rules::SourceText>> Read() const;
  void OnFilesChanged();
  void Follow();
  void Report(std::string_view why, sources::RuleReloader::Outcome outcome);

  net::EventLoop& loop_;
  service::ServiceMetrics& metrics_;
  const DaemonConfig& config_;
  sources::FileSource files_;
  sources::RuleReloader reloader_;
  std::unique_ptr<net::FdWatcher> watcher_;
  net::Timer settled_;
  bool settling_ = false;
};

}  // namespace sluice::app
