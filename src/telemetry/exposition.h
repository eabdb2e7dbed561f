#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "telemetry/histogram.h"

namespace sluice::telemetry {

struct Label {
  std::string_view name;
  std::string_view value;
};

// Writes metrics in Prometheus' text format (0.0.4): for each family a HELP and a TYPE line, then
// its samples. Values of labels are escaped; names are not, because they are constants.
class Exposition {
 public:
  enum class Type : std::uint8_t { kCounter, kGauge, kHistogram };

  explicit Exposition(std::string& out) : out_(&out) {}

  // Begins a family; all its samples follow before the next one begins.
  void Family(std::string_view name, std::string_view help, Type type);
  void Sample(std::string_view name, std::span<const Label> labels, std::uint64_t value);
  void Sample(std::string_view name, std::span<const Label> labels, double value);
  // In seconds, with cumulative buckets, as the format requires.
  void Samples(std::string_view name, const Histogram::Reading& reading);

 private:
  void Head(std::string_view name, std::span<const Label> labels);

  std::string* out_;
};

}  // namespace sluice::telemetry
