#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/result.h"

#include "file_follower.h"
#include "frontend/http/mode_switch.h"
#include "rules/mode_overrides.h"
#include "service/limiter_service.h"
#include "sources/file_source.h"
#include "telemetry/exposition.h"
#include "telemetry/registry.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::app {

// Keeps the modes that operators set: in force in the service, and on disk in one small file,
//
//   {"kill_switch": false, "modes": {"login": "shadow"}}
//
// that a person may edit too: it is read at the start, when it changes, and on SIGHUP. The loop's
// thread, but for the metrics.
class ModeFile final : public frontend::http::ModeSwitch, public telemetry::Source {
 public:
  // `file` "" keeps nothing beyond the process. `service` outlives it.
  ModeFile(service::LimiterService& service, std::string file)
      : service_(service), file_(std::move(file)) {}

  // Puts in force what the file says; that there is none sets no mode. Errors: it cannot be read,
  // or says what it cannot mean; the modes are then as before.
  [[nodiscard]] Result<void> Load();
  // Loads on `loop`, which outlives it, whenever the file changes. What does not load is logged.
  // Errors: the kernel gives no inotify descriptor.
  [[nodiscard]] Result<void> Follow(net::EventLoop& loop);

  [[nodiscard]] const rules::ModeOverrides& modes() const override { return modes_; }
  [[nodiscard]] Result<void> SetMode(std::string_view rule,
                                     std::optional<rules::Mode> mode) override;
  [[nodiscard]] Result<void> SetKillSwitch(bool on) override;

  // The kill switch, and the mode that each rule is in.
  void Write(telemetry::Exposition& out) const override;

 private:
  [[nodiscard]] Result<void> Set(rules::ModeOverrides modes);
  void PutInForce(rules::ModeOverrides modes);

  service::LimiterService& service_;
  std::string file_;
  rules::ModeOverrides modes_;
  std::optional<sources::FileSource> watched_;
  std::unique_ptr<FileFollower> follower_;
};

}  // namespace sluice::app
