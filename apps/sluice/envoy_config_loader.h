#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

#include "envoy/rate_limit_service.h"
#include "envoy_config.h"
#include "file_follower.h"
#include "reload_cause.h"
#include "rules/rule_set.h"
#include "sources/file_source.h"
#include "sources/tree_files.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::app {

// The files that `config` names, as they are now, and what was skipped on the way. Error: the
// directory cannot be read.
[[nodiscard]] Result<sources::TreeFiles> ReadEnvoyTree(const EnvoyConfig& config);

// Keeps the configuration of Envoy's domains in force: at start, and again whenever its files
// change (in place, by a rename or by the swap of a symbolic link), or the operator says so. What
// does not load leaves the running configuration in force, or none; the log says why, once for the
// same texts and in one line on each further SIGHUP, and ratelimit_service_config_load_error counts
// it. One thread: the loop's.
class EnvoyConfigLoader {
 public:
  // All outlive it. `on_loaded` hears of each configuration that is put in force. Error: the kernel
  // gives no inotify descriptor.
  [[nodiscard]] static Result<std::unique_ptr<EnvoyConfigLoader>> Create(
      net::EventLoop& loop, envoy::RateLimitService& service, const EnvoyConfig& config,
      std::function<void()> on_loaded);

  // Whether or not it succeeds, changes are followed from here on.
  void LoadFirst();
  // Reads everything anew because an operator asks.
  void ReloadOnDemand() { Load(ReloadCause::kOperator); }

 private:
  EnvoyConfigLoader(net::EventLoop& loop, envoy::RateLimitService& service,
                    const EnvoyConfig& config, std::function<void()> on_loaded,
                    sources::FileSource files);

  void Load(ReloadCause cause);
  // The configuration's files; what is wrong with the directory is an error.
  [[nodiscard]] Result<std::vector<rules::SourceText>> Read() const;
  void Fail(ReloadCause cause, const std::vector<Error>& errors, std::string text);

  net::EventLoop& loop_;
  envoy::RateLimitService& service_;
  const EnvoyConfig& config_;
  std::function<void()> on_loaded_;
  sources::FileSource files_;
  std::unique_ptr<FileFollower> follower_;
  std::string running_text_;  // All files of the running configuration, in one.
  std::string failed_text_;   // Of the last failure.
};

}  // namespace sluice::app
