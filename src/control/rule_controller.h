#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/result.h"

#include "control/change_error.h"
#include "control/fleet_rules.h"
#include "control/mode_file.h"
#include "control/running_rules.h"
#include "rules/rule_set.h"
#include "service/limiter_service.h"
#include "service/service_metrics.h"
#include "sources/file_follower.h"
#include "telemetry/registry.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::control {

// Whom a change concerns: this node alone, or all that follow the same source.
enum class Scope : std::uint8_t { kNode, kFleet };

[[nodiscard]] constexpr std::string_view NameOf(Scope scope) {
  return scope == Scope::kFleet ? "fleet" : "node";
}

// Whom a rule concerns, going by its source.
[[nodiscard]] Scope ScopeOf(const rules::Rule& rule);

// Keeps the rules of all sources in force, as they change in files and in etcd and as operators
// change them. What does not load leaves the running rules in force; the log says why, once for the
// same texts and in one line on each further ReloadOnDemand(), and sluice_rule_reloads_total counts
// it. One thread: the loop's.
class RuleController {
 public:
  using OnDone = std::function<void(ChangeResult<Scope>)>;

  // Loads all rules, and follows their changes from here on. All outlive it. May run the loop while
  // etcd does not answer, as long as `is_over` is false. Errors: the kernel gives no inotify
  // descriptor; the rules do not load, for at start there are none to fall back on: the error has
  // every problem, on a line each; `is_over` has become true.
  [[nodiscard]] static Result<std::unique_ptr<RuleController>> Create(
      net::EventLoop& loop, service::LimiterService& service, service::ServiceMetrics& metrics,
      ModeFile& modes, RuleSources sources,
      const std::function<bool()>& is_over = [] { return false; });
  RuleController(const RuleController&) = delete;
  RuleController& operator=(const RuleController&) = delete;

  // Reads everything again, on an operator's request.
  void ReloadOnDemand();

  // Never nullptr.
  [[nodiscard]] std::shared_ptr<const rules::RuleSet> rules() const { return running_.set(); }
  // The rule as its source has it, as JSON; `rule` is one of rules().
  [[nodiscard]] std::string TextOf(const rules::Rule& rule) const;

  // Before a change that goes by what rules() says: puts in force what a source has said and this
  // node has not acted on yet, so that a condition is not judged on an older rule.
  void CatchUp();
  // Puts the API's rule `id` in force and keeps it, on this node or, with etcd, for all nodes.
  // `body` is the rule's JSON, needed during this only. `on_done`: once, during this or later;
  // after a success the rule decides every request from then on.
  void Put(std::string_view id, std::string_view body, OnDone on_done);
  // Takes away the rule `id` that came this way; another source's of that id is in force again.
  // With the last rule of an id its mode is forgotten.
  void Delete(std::string_view id, OnDone on_done);

  // nullptr where no rules come from etcd.
  [[nodiscard]] const telemetry::Source* etcd_metrics() const {
    return fleet_ ? &*fleet_ : nullptr;
  }

 private:
  RuleController(net::EventLoop& loop, service::LimiterService& service,
                 service::ServiceMetrics& metrics, ModeFile& modes, RuleSources sources,
                 sources::FileSource files);
  [[nodiscard]] Result<void> LoadFirst(net::EventLoop& loop, const std::function<bool()>& is_over);
  void OnFilesChanged();
  void TryFleetAgain();
  // Takes the rule away from the source that has it.
  void Erase(const std::string& id, OnDone on_done);

  ModeFile& modes_;
  const RuleSources sources_;
  RunningRules running_;
  std::optional<FleetRules> fleet_;  // Where rules come from etcd.
  std::unique_ptr<sources::FileFollower> follower_;
};

}  // namespace sluice::control
