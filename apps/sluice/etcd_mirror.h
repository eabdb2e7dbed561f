#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sluice/result.h"
#include "sluice/time.h"

#include "etcd_config.h"
#include "rules/findings.h"
#include "rules/rule_set.h"
#include "sources/etcd_rules.h"
#include "telemetry/exposition.h"
#include "telemetry/registry.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::app {

// What etcd holds, as sources of a rule set, and a copy of it on disk, so that a start at which
// etcd is away has the rules of before. The loop's thread, but for the metrics.
class EtcdMirror final : public telemetry::Source {
 public:
  // `copy_file` "" keeps no copy. `on_change` is called when documents() are others. `loop`
  // outlives it. Errors: a file of TLS does not load.
  [[nodiscard]] static Result<std::unique_ptr<EtcdMirror>> Create(net::EventLoop& loop,
                                                                  const EtcdConfig& config,
                                                                  std::string copy_file,
                                                                  std::function<void()> on_change);

  // Runs the loop until etcd has answered, for `patience` at most, and not once `is_over`.
  void Start(Duration patience, const std::function<bool()>& is_over);

  [[nodiscard]] sources::EtcdRules& rules() { return *rules_; }
  [[nodiscard]] const sources::EtcdDocuments& documents() const { return rules_->documents(); }
  // Those of the copy, as it was at the start.
  [[nodiscard]] const sources::EtcdDocuments& copied() const { return copied_; }

  // A key that names no rule, or a value that is no JSON object, goes to `findings`.
  [[nodiscard]] std::vector<rules::SourceText> Sources(const sources::EtcdDocuments& documents,
                                                       rules::Findings& findings) const;
  // How the source of rule `id` is called.
  [[nodiscard]] std::string NameOf(std::string_view id) const;

  // documents() are in force: they are what a start without etcd should find.
  void KeepCopy();

  void Write(telemetry::Exposition& out) const override;

 private:
  EtcdMirror(net::EventLoop& loop, std::string prefix, std::string copy_file);
  void OnState(sources::EtcdRules::State state, std::string_view why);

  net::EventLoop& loop_;
  const std::string prefix_;
  const std::string copy_file_;
  sources::EtcdDocuments copied_;
  std::unique_ptr<sources::EtcdRules> rules_;
  std::atomic<bool> following_{false};
  std::atomic<std::uint64_t> lost_connections_{0};
};

}  // namespace sluice::app
