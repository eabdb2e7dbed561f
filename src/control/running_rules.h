#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

#include "control/change_error.h"
#include "control/configuration_file.h"
#include "rules/rule_set.h"
#include "service/limiter_service.h"
#include "service/service_metrics.h"
#include "sources/api_rules.h"
#include "sources/etcd_rules.h"
#include "sources/file_source.h"

namespace sluice::control {

// Where a daemon's rules come from.
struct RuleSources {
  // The configuration file, as it was at the start.
  rules::SourceText own{.name = {}, .text = {}, .is_configuration = true};
  std::vector<std::string> files{};  // Globs.
  // Keeps the API's rules and a copy of etcd's; "": they end with the process.
  std::string folder{};
  std::optional<sources::EtcdSettings> etcd{};
  // Reports what is wrong with a configuration file besides its rules.
  ConfigurationFile::Check check{};
  // Looks at a set that loads, before it is put in force: adds warnings, or errors that refuse it.
  // For what rules alone cannot say, such as whom they judge.
  std::function<void(const rules::RuleSet&, rules::Findings&)> review{};
};

// The rules in force, and the texts that they are made of: the configuration's own, files, what
// etcd holds, what came over the API. A change that loads is put in force as a whole; one that does
// not leaves the running rules as they are. All changes happen here, where they are logged and
// counted (sluice_rule_reloads_total). One thread: the loop's.
class RunningRules {
 public:
  enum class Outcome : std::uint8_t {
    kPublished,    // A new set is in force.
    kUnchanged,    // The texts are those of the running set: nothing was done.
    kFailed,       // Something is wrong, and it is news: findings() says what.
    kStillFailed,  // The same texts, or the same trouble in reading them, as last time.
  };
  using Texts = std::vector<rules::SourceText>;
  using Documents = sources::ApiRules::Documents;

  // All outlive it.
  RunningRules(service::LimiterService& service, service::ServiceMetrics& metrics,
               const RuleSources& sources, sources::FileSource files);
  RunningRules(const RunningRules&) = delete;
  RunningRules& operator=(const RunningRules&) = delete;

  // Reads all sources as they are now, but etcd's and the API's, which stay as they are here.
  Outcome Reload();
  // The same with `texts` for etcd's.
  Outcome ReloadWithEtcd(Texts texts);
  // What etcd holds has become `texts`. They are built beside the texts that run, not beside what
  // the files say now: that may not load, or not be meant yet.
  Outcome ReplaceEtcd(Texts texts);
  // Puts the API's rule `id` in force, beside what runs, and keeps it; or takes it away, for the
  // reason `why` in the log.
  [[nodiscard]] ChangeResult<void> Put(const std::string& id, std::string document);
  [[nodiscard]] ChangeResult<void> Erase(const std::string& id, std::string_view why);

  // Logs and counts the outcome of a change; `why` there was one.
  void Report(std::string_view why, Outcome outcome,
              std::string_view failure = "the new rules are invalid");

  // What would run with these for etcd's and the API's.
  [[nodiscard]] Texts Beside(Texts etcd, const Documents& documents) const;

  // nullptr until a first set was good.
  [[nodiscard]] const std::shared_ptr<const rules::RuleSet>& set() const { return running_; }
  // The texts of the running set.
  [[nodiscard]] const Texts& texts() const { return running_texts_; }
  // Of the last attempt that was not kUnchanged or kStillFailed: errors where it failed.
  [[nodiscard]] const rules::Findings& findings() const { return findings_; }
  // The first error of the last attempt; "" after a good one.
  [[nodiscard]] const std::string& last_error() const { return last_error_; }
  [[nodiscard]] sources::FileSource& files() { return files_; }
  [[nodiscard]] sources::ApiRules& api() { return api_; }
  [[nodiscard]] service::ServiceMetrics& metrics() { return metrics_; }

 private:
  // What Reload() found: texts, or why they cannot be had.
  struct Attempt {
    Texts texts;
    std::string unread;
    bool operator==(const Attempt&) const = default;
  };

  [[nodiscard]] tl::expected<Texts, std::vector<Error>> Read();
  // nullptr if `findings` got an error.
  [[nodiscard]] std::shared_ptr<const rules::RuleSet> Build(const Texts& texts,
                                                            rules::Findings& findings) const;
  // Puts `texts` in force instead of the running ones. Once they are found good, `keep` writes down
  // what must outlive the process; where it fails, nothing has changed and its error is the
  // finding. kPublished, kUnchanged or kFailed.
  Outcome Replace(Texts texts, const std::function<Result<void>()>& keep);
  void PutInForce(std::shared_ptr<const rules::RuleSet> set, Texts texts);
  // What came over the API becomes `documents`, once `keep` has written down what changes.
  [[nodiscard]] ChangeResult<void> ReplaceApi(std::string_view why, const Documents& documents,
                                              std::string_view changed,
                                              const std::function<Result<void>()>& keep);
  // Names in the log what the configuration file says that takes a restart, once for the same.
  void WarnOfChangedSections();

  service::LimiterService& service_;
  service::ServiceMetrics& metrics_;
  const RuleSources& sources_;
  ConfigurationFile own_file_;
  std::vector<std::string> logged_sections_;  // Of own_file_, in the log.
  sources::FileSource files_;
  sources::ApiRules api_;
  Texts etcd_;  // As they run.
  std::shared_ptr<const rules::RuleSet> running_;
  Texts running_texts_;
  std::optional<Attempt> failed_;  // The last Reload() that failed; none after one that did not.
  std::string failed_error_;       // Its first error.
  rules::Findings findings_;
  std::string last_error_;
};

}  // namespace sluice::control
