#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sluice/result.h"

#include "control/change_error.h"
#include "rules/rule.h"
#include "service/limiter_service.h"
#include "sources/file_follower.h"
#include "sources/file_source.h"
#include "telemetry/registry.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::control {

// The modes that operators set at run time, over those that the rules state: in force in the
// service, and on disk in one small file,
//
//   {"kill_switch": false, "modes": {"login": "shadow"}}
//
// that a person may edit too: it is read at the start, when it changes, and on Load(). The loop's
// thread, but for the metrics.
class ModeFile final : public telemetry::Source {
 public:
  // Puts in force what the file says, and follows it on `loop` from here on; without it no mode is
  // set. `file` "" keeps nothing beyond the process. Both outlive it. Errors: as of Load(), or the
  // kernel gives no inotify descriptor.
  [[nodiscard]] static Result<std::unique_ptr<ModeFile>> Create(net::EventLoop& loop,
                                                                service::LimiterService& service,
                                                                std::string file);
  ModeFile(const ModeFile&) = delete;
  ModeFile& operator=(const ModeFile&) = delete;

  // Reads the file anew. Errors: it cannot be read, or says what it cannot mean; the modes are then
  // as before.
  [[nodiscard]] Result<void> Load();

  [[nodiscard]] const rules::ModeOverrides& modes() const { return modes_; }
  // A change is in force for every request handed in from its return on, and stored for the next
  // start. kNotStored: nothing has changed. Without `mode` the rule's own counts again.
  [[nodiscard]] ChangeResult<void> SetMode(std::string_view rule, std::optional<rules::Mode> mode);
  // On: every rule is off.
  [[nodiscard]] ChangeResult<void> SetKillSwitch(bool on);

  // The kill switch, and the mode that each rule is in.
  void Write(telemetry::Exposition& out) const override;

 private:
  ModeFile(service::LimiterService& service, std::string file)
      : service_(service), file_(std::move(file)) {}
  [[nodiscard]] Result<void> Follow(net::EventLoop& loop);
  [[nodiscard]] ChangeResult<void> Set(rules::ModeOverrides modes);
  void PutInForce(rules::ModeOverrides modes);

  service::LimiterService& service_;
  const std::string file_;
  rules::ModeOverrides modes_;
  std::optional<sources::FileSource> watched_;       // Where there is a file,
  std::unique_ptr<sources::FileFollower> follower_;  // both.
};

}  // namespace sluice::control
