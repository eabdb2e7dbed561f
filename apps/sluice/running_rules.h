#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "sluice/result.h"

#include "configuration_file.h"
#include "daemon_config.h"
#include "frontend/http/rule_book.h"
#include "rules/rule_set.h"
#include "service/limiter_service.h"
#include "service/service_metrics.h"
#include "sources/api_rules.h"
#include "sources/file_source.h"
#include "sources/rule_reloader.h"

namespace sluice::app {

// The rules in force, and the sources that they are made of: the configuration's own, files, what
// etcd holds, what came over the API. Whatever changes them does so here, where it is
// logged and counted (sluice_rule_reloads_total). One thread: the loop's.
class RunningRules {
 public:
  using Outcome = sources::RuleReloader::Outcome;
  using Texts = std::vector<rules::SourceText>;
  using Documents = sources::ApiRules::Documents;

  // All outlive it. `api_folder` keeps the API's rules; "": they end with the process.
  RunningRules(service::LimiterService& service, service::ServiceMetrics& metrics,
               const DaemonConfig& config, sources::FileSource files, std::string api_folder);
  RunningRules(const RunningRules&) = delete;
  RunningRules& operator=(const RunningRules&) = delete;

  // Reads all sources as they are now, but etcd's and the API's, which stay as they are here.
  Outcome Reload() { return reloader_.Reload(); }
  // The same with `texts` for etcd's.
  Outcome ReloadWithEtcd(Texts texts);
  // What etcd holds has become `texts`. Beside what runs and not beside what the files say now:
  // that may not load, or not be meant yet.
  Outcome ReplaceEtcd(Texts texts);
  // Puts the API's rule `id` in force, beside what runs, and keeps it; or takes it away, for the
  // reason `why` in the log. Refused, nothing has changed.
  [[nodiscard]] tl::expected<void, frontend::http::RuleRefusal> Put(const std::string& id,
                                                                    std::string document);
  [[nodiscard]] tl::expected<void, frontend::http::RuleRefusal> Erase(const std::string& id,
                                                                      std::string_view why);

  // Logs what became of a change; `why` there was one.
  void Report(std::string_view why, Outcome outcome,
              std::string_view failure = "the new rules are invalid");

  // What would run with these for etcd's and the API's.
  [[nodiscard]] Texts Beside(Texts etcd, const Documents& documents) const;

  // nullptr until a first set was good.
  [[nodiscard]] const std::shared_ptr<const rules::RuleSet>& set() const {
    return reloader_.running();
  }
  [[nodiscard]] const Texts& sources() const { return reloader_.running_sources(); }
  // Of the last attempt that was news.
  [[nodiscard]] const rules::Findings& findings() const { return reloader_.findings(); }
  // The first error of the last attempt; "" after a good one.
  [[nodiscard]] const std::string& last_error() const { return reloader_.last_error(); }
  [[nodiscard]] sources::FileSource& files() { return files_; }
  [[nodiscard]] sources::ApiRules& api() { return api_; }
  [[nodiscard]] service::ServiceMetrics& metrics() { return metrics_; }

 private:
  [[nodiscard]] sources::RuleReloader::Sources Read();
  // Names in the log what the configuration file says that takes a restart, once for the same.
  void WarnOfChangedSections();
  // What came over the API becomes `documents`, once `keep` has written down what changes.
  [[nodiscard]] tl::expected<void, frontend::http::RuleRefusal> ReplaceApi(
      std::string_view why, const Documents& documents, std::string_view changed,
      const std::function<Result<void>()>& keep);

  service::ServiceMetrics& metrics_;
  const DaemonConfig& config_;
  ConfigurationFile own_file_;
  std::vector<std::string> logged_sections_;  // Of own_file_, in the log.
  sources::FileSource files_;
  sources::ApiRules api_;
  Texts etcd_;  // As they run.
  sources::RuleReloader reloader_;
};

}  // namespace sluice::app
