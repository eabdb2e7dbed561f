#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sluice/time.h"

#include "base/clock.h"
#include "net/timer_wheel.h"
#include "otlp/resource.h"
#include "otlp/sender.h"
#include "telemetry/registry.h"
#include "telemetry/span_queue.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::otlp {

struct ExporterSettings {
  Collector collector;
  Resource resource;
  Duration interval = std::chrono::seconds(15);  // Between exports of metrics.
};

// Exports the metrics of a registry to a collector at every interval, and spans as they come.
// Memory is bounded: of metrics nothing is kept while the collector is away, because the next
// message says it all again; of spans one message and the queue are kept, and then they are
// dropped. One thread, the loop's.
class Exporter final : public telemetry::Source {
 public:
  // `spans`: nullptr if none are exported. All outlive it.
  Exporter(net::EventLoop& loop, const telemetry::Registry& registry, telemetry::SpanQueue* spans,
           const base::Clock& clock, ExporterSettings settings, const Sender::OnEvent& on_event);
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  void Start();
  // The last messages, with what has happened since; then it is idle, or the collector is away.
  void Drain();
  [[nodiscard]] bool idle() const { return !metrics_.busy() && !traces_.busy(); }

  // Of itself.
  void Write(telemetry::Exposition& out) const override;

 private:
  void OnInterval();
  void SendMetrics();
  void SendSpans(std::size_t most);
  void OnSpansSent(Sent result);

  net::EventLoop& loop_;
  const telemetry::Registry& registry_;
  telemetry::SpanQueue* const spans_;
  const base::Clock& clock_;
  const ExporterSettings settings_;
  const WallInstant started_;
  Sender metrics_;
  Sender traces_;
  std::vector<telemetry::Span> batch_;  // Being sent, or to be sent again.
  std::atomic<std::uint64_t> spans_sent_{0};
  std::atomic<std::uint64_t> spans_rejected_{0};
  net::Timer metrics_timer_;
  net::Timer spans_timer_;
};

}  // namespace sluice::otlp
