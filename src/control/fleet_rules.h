#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "control/change_error.h"
#include "control/running_rules.h"
#include "rules/findings.h"
#include "rules/rule_set.h"
#include "sources/etcd_rules.h"
#include "telemetry/registry.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::control {

// The rules that etcd holds for all nodes: put in force here as they change there, and changed
// there over the API of any node. A copy on disk of those in force serves a start without etcd. The
// loop's thread, but for the metrics.
class FleetRules final : public telemetry::Source {
 public:
  using OnDone = std::function<void(ChangeResult<void>)>;

  // All outlive it. `copy_file` "" keeps no copy.
  FleetRules(net::EventLoop& loop, sources::EtcdSettings settings, std::string copy_file,
             RunningRules& running);

  // At start, with the other sources. There is nothing to fall back on yet: what etcd holds, else
  // what the copy has, else nothing of it. A rule there that does not load must not keep a fleet
  // from starting. Runs the loop until etcd has answered, for 3 s at most, and not once `is_over`.
  // From here on changes are followed.
  [[nodiscard]] RunningRules::Outcome LoadFirst(const std::function<bool()>& is_over);

  // The other sources have changed: perhaps etcd's rules waited for that.
  void TryAgain();
  // Puts in force what etcd has said and this node has not acted on yet.
  void CatchUp() { etcd_.CatchUp(); }

  // Whether etcd has the rule.
  [[nodiscard]] bool Has(const std::string& id) const { return etcd_.documents().contains(id); }
  // Changes etcd, if its rule is still the one that was read; a rule of this id that came over this
  // node's API gives way. `on_done`: once, during this or later.
  void Put(const std::string& id, const std::string& body, OnDone on_done);
  void Erase(const std::string& id, OnDone on_done);

  void Write(telemetry::Exposition& out) const override;

 private:
  // etcd's documents as sources of a rule set. A key that names no rule, or a value that is no JSON
  // object, goes to `findings`.
  [[nodiscard]] RunningRules::Texts TextsOf(const sources::EtcdDocuments& documents,
                                            rules::Findings& findings) const;
  // What the source of rule `id` is called.
  [[nodiscard]] std::string SourceName(std::string_view id) const;

  void AwaitFirstAnswer(const std::function<bool()>& is_over);
  void OnChanged();
  void OnState(sources::EtcdRules::State state, std::string_view why);
  void KeepCopy();
  // Whether etcd's rules may become `next`, in which `changed` differs from what etcd holds.
  [[nodiscard]] ChangeResult<void> Try(const sources::EtcdDocuments& next,
                                       const std::string& changed) const;
  [[nodiscard]] sources::EtcdRules::OnWritten AfterWrite(const std::string& id, OnDone on_done);
  [[nodiscard]] ChangeResult<void> Finish(
      const std::string& id, const tl::expected<void, sources::EtcdRules::WriteFailure>& written);

  net::EventLoop& loop_;
  RunningRules& running_;
  const std::string prefix_;
  const std::string copy_file_;
  const sources::EtcdSnapshot copied_;  // As it was at the start.
  sources::EtcdRules etcd_;
  bool waits_ = false;  // What etcd holds now does not load.
  bool loaded_ = false;
  std::atomic<bool> following_{false};
  std::atomic<std::uint64_t> lost_connections_{0};
};

}  // namespace sluice::control
