#pragma once

#include <optional>

#include "base/clock.h"
#include "engine.h"
#include "lifecycle.h"
#include "net/timer_wheel.h"
#include "otlp/exporter.h"

namespace sluice::app {

// Sends the daemon's metrics to a collector, from the control loop. Nothing where none is
// configured.
class OtlpExport final : public Component {
 public:
  // All outlive it.
  OtlpExport(net::EventLoop& control, Engine& engine, const base::Clock& clock);

  void Start() override;
  // Sends what has happened since the last time.
  void Drain() override;
  // Also once that was tried for long enough.
  [[nodiscard]] bool drained() override;

 private:
  std::optional<otlp::Exporter> exporter_;
  net::SteadyTime until_{};
};

}  // namespace sluice::app
