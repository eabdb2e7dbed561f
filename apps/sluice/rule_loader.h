#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/result.h"

#include "daemon_config.h"
#include "file_follower.h"
#include "fleet_rules.h"
#include "frontend/http/rule_book.h"
#include "running_rules.h"
#include "service/limiter_service.h"
#include "service/service_metrics.h"
#include "telemetry/registry.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::app {

// Keeps the rules of the configuration's sources in force: at start, and again whenever a file
// changes or the operator says so, by signal or over the API. What does not load leaves the running
// rules in force; the log says why, once for the same texts and in one line on each further SIGHUP,
// and sluice_rule_reloads_total counts it. One thread: the loop's.
class RuleLoader final : public frontend::http::RuleBook {
 public:
  // All outlive it. The API's rules are kept in ApiFolder(config). Errors: the kernel gives no
  // inotify descriptor.
  [[nodiscard]] static Result<std::unique_ptr<RuleLoader>> Create(net::EventLoop& loop,
                                                                  service::LimiterService& service,
                                                                  service::ServiceMetrics& metrics,
                                                                  const DaemonConfig& config);

  // At start there are no running rules to fall back on: the error has every problem, a line
  // each. Changes are followed from here on. May run the loop while etcd does not answer, as long
  // as `is_over` is false.
  [[nodiscard]] Result<void> LoadFirst(const std::function<bool()>& is_over = [] { return false; });

  // Reads everything anew because an operator asks.
  void ReloadOnDemand();

  void CatchUp() override;
  [[nodiscard]] std::shared_ptr<const rules::RuleSet> rules() const override {
    return running_.set();
  }
  [[nodiscard]] std::string TextOf(const rules::Rule& rule) const override;
  [[nodiscard]] frontend::http::Scope ScopeOf(const rules::Rule& rule) const override;
  void Put(std::string_view id, std::string_view body, OnDone on_done) override;
  void Delete(std::string_view id, OnDone on_done) override;

  // nullptr where no rules come from etcd.
  [[nodiscard]] const telemetry::Source* etcd_metrics() const {
    return fleet_ == nullptr ? nullptr : &fleet_->metrics();
  }

 private:
  RuleLoader(net::EventLoop& loop, service::LimiterService& service,
             service::ServiceMetrics& metrics, const DaemonConfig& config,
             sources::FileSource files);

  void TryFleetAgain();

  net::EventLoop& loop_;
  RunningRules running_;
  std::unique_ptr<FleetRules> fleet_;  // nullptr: no rules come from etcd.
  std::unique_ptr<FileFollower> follower_;
};

}  // namespace sluice::app
