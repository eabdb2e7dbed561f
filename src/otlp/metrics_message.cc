#include "otlp/metrics_message.h"

#include <algorithm>
#include <array>
#include <utility>

#include <protozero/pbf_writer.hpp>

namespace sluice::otlp {

namespace {

using telemetry::Histogram;
using telemetry::Label;

constexpr int kCumulative = 2;  // AGGREGATION_TEMPORALITY_CUMULATIVE

// Of Metric's data: gauge, sum or histogram.
constexpr std::uint32_t FieldOf(telemetry::Exposition::Type type) {
  using Type = telemetry::Exposition::Type;
  return type == Type::kGauge ? 5 : type == Type::kCounter ? 7 : 9;
}

// By the name's end, as Prometheus has it: the unit as UCUM writes it.
std::string_view UnitOf(std::string_view name) {
  if (name.ends_with("_total")) {
    name.remove_suffix(6);
  }
  return name.ends_with("_seconds") ? "s" : name.ends_with("_bytes") ? "By" : "";
}

void AppendLabels(std::uint32_t field, std::span<const Label> labels, std::string& point) {
  for (const Label& label : labels) {
    AppendAttribute(field, label.name, label.value, point);
  }
}

}  // namespace

void MetricsMessage::Family(std::string_view name, std::string_view help, Type type) {
  FinishFamily();
  type_ = type;
  protozero::pbf_writer head(head_);
  head.add_string(1, name.data(), name.size());
  head.add_string(2, help.data(), help.size());
  if (const std::string_view unit = UnitOf(name); !unit.empty()) {
    head.add_string(3, unit.data(), unit.size());
  }
}

void MetricsMessage::Sample(std::string_view /*name*/, std::span<const Label> labels,
                            std::uint64_t value) {
  std::string point;
  AppendLabels(7, labels, point);
  protozero::pbf_writer writer(point);
  writer.add_fixed64(2, Nanos(start_));
  writer.add_fixed64(3, Nanos(now_));
  writer.add_sfixed64(6, static_cast<std::int64_t>(value));
  protozero::pbf_writer(points_).add_message(1, point);
}

void MetricsMessage::Sample(std::string_view /*name*/, std::span<const Label> labels,
                            double value) {
  std::string point;
  AppendLabels(7, labels, point);
  protozero::pbf_writer writer(point);
  writer.add_fixed64(2, Nanos(start_));
  writer.add_fixed64(3, Nanos(now_));
  writer.add_double(4, value);
  protozero::pbf_writer(points_).add_message(1, point);
}

void MetricsMessage::Samples(std::string_view /*name*/, std::span<const Label> labels,
                             const Histogram::Reading& reading) {
  std::array<double, Histogram::kBoundsUs.size()> bounds{};
  std::ranges::transform(Histogram::kBoundsUs, bounds.begin(),
                         [](std::int64_t us) { return static_cast<double>(us) / 1e6; });
  std::string point;
  AppendLabels(9, labels, point);
  protozero::pbf_writer writer(point);
  writer.add_fixed64(2, Nanos(start_));
  writer.add_fixed64(3, Nanos(now_));
  writer.add_fixed64(4, reading.count);
  writer.add_double(5, static_cast<double>(reading.sum_ns) / 1e9);
  writer.add_packed_fixed64(6, reading.counts.begin(), reading.counts.end());
  writer.add_packed_double(7, bounds.begin(), bounds.end());
  protozero::pbf_writer(points_).add_message(1, point);
}

// A family without samples is left out.
void MetricsMessage::FinishFamily() {
  if (!points_.empty()) {
    protozero::pbf_writer data(points_);
    if (type_ != Type::kGauge) {
      data.add_enum(2, kCumulative);
    }
    if (type_ == Type::kCounter) {
      data.add_bool(3, true);
    }
    protozero::pbf_writer(head_).add_message(FieldOf(type_), points_);
    protozero::pbf_writer(metrics_).add_message(2, head_);
  }
  head_.clear();
  points_.clear();
}

std::string MetricsMessage::Finish(const Resource& resource) {
  FinishFamily();
  std::string scope;
  AppendScope(resource.service_version, scope);
  scope += metrics_;
  std::string resource_metrics;
  AppendResource(resource, resource_metrics);
  protozero::pbf_writer(resource_metrics).add_message(2, scope);
  std::string message;
  protozero::pbf_writer(message).add_message(1, resource_metrics);
  return message;
}

}  // namespace sluice::otlp
