#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sluice/result.h"

#include "envoy/configuration.h"
#include "envoy/rate_limit_service.h"
#include "rules/rule_set.h"
#include "sources/file_follower.h"
#include "sources/file_sets.h"
#include "sources/file_source.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::control {

// The files of a configuration of Envoy's domains: those below `directory` whose path, with dots
// for slashes, begins with `prefix`.
struct EnvoyFiles {
  std::string directory;
  std::string prefix;
  bool skip_dotfiles = false;
  envoy::ReadingOptions reading;
};

// These files as they are now, and what was skipped on the way. Error: the directory cannot be
// read.
[[nodiscard]] Result<sources::TreeFiles> ReadEnvoyTree(const EnvoyFiles& files);

// Keeps the configuration of Envoy's domains in force: at start, and again whenever its files
// change (in place, by a rename or by the swap of a symbolic link), or the operator says so. What
// does not load leaves the running configuration in force, or none; the log says why, once for the
// same texts and in one line on each further SIGHUP, and ratelimit_service_config_load_error counts
// it. One thread: the loop's.
class EnvoyConfigLoader {
 public:
  // Loads, and follows changes from here on, whether or not it succeeds. All outlive it.
  // `on_loaded` is called for each configuration that is put in force. Error: the kernel gives no
  // inotify descriptor.
  [[nodiscard]] static Result<std::unique_ptr<EnvoyConfigLoader>> Create(
      net::EventLoop& loop, envoy::RateLimitService& service, const EnvoyFiles& files,
      std::function<void()> on_loaded);
  EnvoyConfigLoader(const EnvoyConfigLoader&) = delete;
  EnvoyConfigLoader& operator=(const EnvoyConfigLoader&) = delete;

  // Reads everything again, on an operator's request.
  void ReloadOnDemand() { Load(sources::ReloadCause::kOperator); }

 private:
  using Texts = std::vector<rules::SourceText>;

  EnvoyConfigLoader(envoy::RateLimitService& service, const EnvoyFiles& files,
                    std::function<void()> on_loaded, sources::FileSource watched);

  void Load(sources::ReloadCause cause);
  // The configuration's files; what is wrong with the directory is an error.
  [[nodiscard]] Result<Texts> Read() const;
  // `texts` are what does not load, `unread` why there are none.
  void Fail(sources::ReloadCause cause, const std::vector<Error>& errors, Texts texts,
            std::string unread);

  envoy::RateLimitService& service_;
  const EnvoyFiles& config_;
  std::function<void()> on_loaded_;
  sources::FileSource watched_;
  std::unique_ptr<sources::FileFollower> follower_;
  std::optional<Texts> running_;
  std::optional<std::pair<Texts, std::string>> failed_;  // Of the last attempt, if it failed.
};

}  // namespace sluice::control
