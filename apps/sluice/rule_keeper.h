#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

#include "daemon_config.h"
#include "etcd_keeper.h"
#include "file_follower.h"
#include "frontend/http/rule_book.h"
#include "service/limiter_service.h"
#include "service/service_metrics.h"
#include "sources/api_rules.h"
#include "sources/file_source.h"
#include "sources/rule_reloader.h"
#include "telemetry/registry.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::app {

// Keeps the rules of the configuration's sources in force: at start, and again whenever a file
// changes or the operator says so, by signal or over the API. What does not load leaves the running
// rules in force; the log says why, once for the same texts, and sluice_rule_reloads_total counts
// it. One thread: the loop's.
class RuleKeeper final : public frontend::http::RuleBook {
 public:
  // All outlive it. The API's rules are kept in ApiFolder(config). Errors: the kernel gives no
  // inotify descriptor.
  [[nodiscard]] static Result<std::unique_ptr<RuleKeeper>> Create(net::EventLoop& loop,
                                                                  service::LimiterService& service,
                                                                  service::ServiceMetrics& metrics,
                                                                  const DaemonConfig& config);

  // At start there are no running rules to fall back on: the error has every problem, a line
  // each. Changes are followed from here on.
  [[nodiscard]] Result<void> LoadFirst();

  // Reads everything anew because an operator asks.
  void ReloadOnDemand();

  void CatchUp() override;
  [[nodiscard]] std::shared_ptr<const rules::RuleSet> rules() const override {
    return reloader_.running();
  }
  [[nodiscard]] std::string TextOf(const rules::Rule& rule) const override;
  [[nodiscard]] frontend::http::Scope ScopeOf(const rules::Rule& rule) const override;
  void Put(std::string_view id, std::string_view body, OnDone on_done) override;
  void Delete(std::string_view id, OnDone on_done) override;

  // nullptr where no rules come from etcd.
  [[nodiscard]] const telemetry::Source* etcd_metrics() const { return etcd_.get(); }

 private:
  using Scope = frontend::http::Scope;
  using RuleRefusal = frontend::http::RuleRefusal;

  RuleKeeper(net::EventLoop& loop, service::LimiterService& service,
             service::ServiceMetrics& metrics, const DaemonConfig& config,
             sources::FileSource files);

  [[nodiscard]] Result<std::vector<rules::SourceText>> Read() const;
  // Puts `documents` in force for the API's, beside the sources that run; `keep` writes down what
  // changes.
  [[nodiscard]] tl::expected<void, RuleRefusal> Change(
      std::string_view why, const sources::ApiRules::Documents& documents,
      const std::function<Result<void>()>& keep);
  // The running sources but the API's, with `texts` for etcd's.
  [[nodiscard]] std::vector<rules::SourceText> WithEtcd(std::vector<rules::SourceText> texts) const;
  [[nodiscard]] sources::RuleReloader::Outcome LoadFirstWithEtcd();
  void OnEtcdChanged();
  // Why etcd's rules must not become `next`; none if they may.
  [[nodiscard]] std::optional<RuleRefusal> RefusalOf(const sources::EtcdDocuments& next,
                                                     std::string_view changed) const;
  void PutInEtcd(const std::string& id, const std::string& body, OnDone on_done);
  void DeleteInEtcd(const std::string& id, OnDone on_done);
  void OnEtcdWritten(const std::string& id,
                     const tl::expected<void, sources::EtcdRules::WriteFailure>& written,
                     const OnDone& on_done);
  void Report(std::string_view why, sources::RuleReloader::Outcome outcome);

  net::EventLoop& loop_;
  service::ServiceMetrics& metrics_;
  const DaemonConfig& config_;
  sources::FileSource files_;
  sources::ApiRules api_;
  sources::RuleReloader reloader_;
  std::unique_ptr<EtcdKeeper> etcd_;              // nullptr: no rules come from there.
  std::vector<rules::SourceText> etcd_in_force_;  // Its sources, as they run.
  bool etcd_waits_ = false;                       // What it holds now does not load.
  bool loaded_ = false;
  std::unique_ptr<FileFollower> follower_;
};

}  // namespace sluice::app
