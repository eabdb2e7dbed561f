#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sluice/time.h"

#include "otlp/resource.h"
#include "telemetry/registry.h"

namespace sluice::otlp {

// All metrics of a moment as one ExportMetricsServiceRequest: counters as monotonic sums,
// histograms with explicit bounds, both cumulative since `start`. Names, labels and units are those
// of Prometheus' text, so that alerts and dashboards work with either way in.
class MetricsMessage final : public telemetry::Exposition {
 public:
  // `start`: since when counters count, and `now`.
  MetricsMessage(WallInstant start, WallInstant now) : start_(start), now_(now) {}

  void Family(std::string_view name, std::string_view help, Type type) override;
  void Sample(std::string_view name, std::span<const telemetry::Label> labels,
              std::uint64_t value) override;
  void Sample(std::string_view name, std::span<const telemetry::Label> labels,
              double value) override;
  void Samples(std::string_view name, std::span<const telemetry::Label> labels,
               const telemetry::Histogram::Reading& reading) override;
  using Exposition::Samples;

  // The message, once, after the last sample.
  [[nodiscard]] std::string Finish(const Resource& resource);

 private:
  void FinishFamily();

  const WallInstant start_;
  const WallInstant now_;
  Type type_ = Type::kGauge;
  std::string head_;     // Name, description and unit of the family that is being written,
  std::string points_;   // and its data points.
  std::string metrics_;  // Families before it, as fields of a ScopeMetrics.
};

}  // namespace sluice::otlp
