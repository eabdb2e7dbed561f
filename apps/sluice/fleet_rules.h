#pragma once

#include <functional>
#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "sluice/result.h"

#include "etcd_mirror.h"
#include "frontend/http/rule_book.h"
#include "running_rules.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::app {

// The rules that etcd holds for all nodes: put in force here as they change there, and changed
// there over the API of any node. One thread: the loop's.
class FleetRules {
 public:
  using OnDone = frontend::http::RuleBook::OnDone;

  // All outlive it. `copy_file` keeps what is in force, for a start without etcd; "": nothing does.
  // Errors: a file of TLS does not load.
  [[nodiscard]] static Result<std::unique_ptr<FleetRules>> Create(net::EventLoop& loop,
                                                                  const EtcdConfig& config,
                                                                  std::string copy_file,
                                                                  RunningRules& running);

  // At start, with the other sources. There is nothing to fall back on yet: what etcd holds, else
  // what it held at the last visit, else nothing of it. A rule there that does not load must not
  // keep a fleet from starting. Waits for etcd, but not once `is_over`. From here on changes are
  // followed.
  [[nodiscard]] RunningRules::Outcome LoadFirst(const std::function<bool()>& is_over);

  // What the other sources are has changed: perhaps etcd's rules waited for that.
  void TryAgain();

  // Whether etcd has the rule.
  [[nodiscard]] bool Has(const std::string& id) const { return etcd_->documents().contains(id); }
  // Changes etcd, if its rule is still the one that was read; see RuleBook.
  void Put(const std::string& id, const std::string& body, OnDone on_done);
  void Erase(const std::string& id, OnDone on_done);
  void CatchUp() { etcd_->rules().CatchUp(); }

  [[nodiscard]] const telemetry::Source& metrics() const { return *etcd_; }

 private:
  using RuleRefusal = frontend::http::RuleRefusal;

  explicit FleetRules(RunningRules& running) : running_(running) {}

  void OnChanged();
  // Whether etcd's rules may become `next`, of which `changed` is another one.
  [[nodiscard]] tl::expected<void, RuleRefusal> Try(const sources::EtcdDocuments& next,
                                                    const std::string& changed) const;
  [[nodiscard]] tl::expected<frontend::http::Scope, RuleRefusal> AfterWrite(
      const std::string& id, const tl::expected<void, sources::EtcdRules::WriteFailure>& written);

  RunningRules& running_;
  std::unique_ptr<EtcdMirror> etcd_;
  bool waits_ = false;  // What etcd holds now does not load.
  bool loaded_ = false;
};

}  // namespace sluice::app
