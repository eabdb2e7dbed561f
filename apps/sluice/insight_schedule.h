#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "daemon_config.h"
#include "insight/insight.h"
#include "lifecycle.h"
#include "net/event_loop.h"
#include "service/limiter_service.h"
#include "telemetry/registry.h"

namespace sluice::app {

// Reads what the deciding threads recorded, four times a second, drops what belongs to rules that
// are gone, and reports keys that make a large share of a rule's requests. On the control loop;
// metrics may be read on any thread.
class InsightSchedule final : public Component, public telemetry::Source {
 public:
  // All outlive it.
  InsightSchedule(net::EventLoop& control, insight::Insight& insight,
                  const service::LimiterService& service, HotKeyConfig hot_keys);

  void Start() override;
  void Stop() override;

  // What it does at each tick of the timer.
  void Tick();

  // sluice_top_key_share{rule}: of every rule that is active; 0 of a rule with few requests.
  void Write(telemetry::Exposition& out) const override;

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  void DropRules();
  void ReportHotKeys();
  [[nodiscard]] bool IsNews(const std::string& rule, const std::string& key, SteadyTime now);

  net::EventLoop& control_;
  insight::Insight& insight_;
  const service::LimiterService& service_;
  const HotKeyConfig hot_keys_;
  std::shared_ptr<const rules::RuleSet> rules_;                         // Whose keys are kept.
  std::map<std::pair<std::string, std::string>, SteadyTime> reported_;  // By rule and key.
  net::Timer timer_;

  mutable std::mutex mutex_;              // Guards all below.
  std::map<std::string, double> shares_;  // The largest one, by rule.
};

}  // namespace sluice::app
