#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sluice/result.h"

#include "rules/mode_overrides.h"
#include "rules/rule.h"

namespace sluice::frontend::http {

// The modes that an operator sets at run time, over those that the rules state. A change is in
// force for every request handed in from its return on, and is kept for the next start. Errors:
// it could not be kept, and then nothing has changed. One thread.
class ModeSwitch {
 public:
  ModeSwitch() = default;
  ModeSwitch(const ModeSwitch&) = delete;
  ModeSwitch& operator=(const ModeSwitch&) = delete;
  virtual ~ModeSwitch() = default;

  [[nodiscard]] virtual const rules::ModeOverrides& modes() const = 0;
  // None: the rule's own mode counts again.
  [[nodiscard]] virtual Result<void> SetMode(std::string_view rule,
                                             std::optional<rules::Mode> mode) = 0;
  // On: every rule is off.
  [[nodiscard]] virtual Result<void> SetKillSwitch(bool on) = 0;
};

}  // namespace sluice::frontend::http
