#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/counter.h"

namespace sluice::telemetry {

struct Label {
  std::string_view name;
  std::string_view value;
};

// Where metrics are written, in one format or another.
class Exposition {
 public:
  enum class Type : std::uint8_t { kCounter, kGauge, kHistogram };

  virtual ~Exposition() = default;

  // Begins a family; all its samples follow before the next one begins, under its name.
  virtual void Family(std::string_view name, std::string_view help, Type type) = 0;
  virtual void Sample(std::string_view name, std::span<const Label> labels,
                      std::uint64_t value) = 0;
  virtual void Sample(std::string_view name, std::span<const Label> labels, double value) = 0;
  // In seconds.
  virtual void Samples(std::string_view name, std::span<const Label> labels,
                       const Histogram::Reading& reading) = 0;
  void Samples(std::string_view name, const Histogram::Reading& reading) {
    Samples(name, {}, reading);
  }
};

// Prometheus' text format (0.0.4): for each family a HELP and a TYPE line, then its samples. Values
// of labels are escaped; names are not, because they are constants.
class PrometheusText final : public Exposition {
 public:
  explicit PrometheusText(std::string& out) : out_(&out) {}

  void Family(std::string_view name, std::string_view help, Type type) override;
  void Sample(std::string_view name, std::span<const Label> labels, std::uint64_t value) override;
  void Sample(std::string_view name, std::span<const Label> labels, double value) override;
  // With cumulative buckets, as the format requires.
  void Samples(std::string_view name, std::span<const Label> labels,
               const Histogram::Reading& reading) override;
  using Exposition::Samples;

 private:
  void Head(std::string_view name, std::span<const Label> labels);

  std::string* out_;
};

// A source of metrics: the service, the daemon's connections, a table.
class Source {
 public:
  virtual ~Source() = default;
  // Called on the scraping thread. Each family is written by one source only.
  virtual void Write(Exposition& out) const = 0;
};

// All metrics of a scrape, in the order in which they were added. Created in main() and passed by
// reference; what is added must outlive every scrape. Safe from any thread.
class Registry {
 public:
  Registry() = default;
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  void Add(const Source& source);
  // A number that its owner already has: table occupancy, open connections, active rules. `name`
  // includes the unit; `read` is called at each scrape.
  void AddGauge(std::string name, std::string help, std::function<double()> read);
  // The same for a count that only grows; `name` ends in _total.
  void AddCounter(std::string name, std::string help, std::function<std::uint64_t()> read);

  void Write(Exposition& out) const;
  // All metrics in Prometheus' text format, for the content type text/plain; version=0.0.4.
  [[nodiscard]] std::string Text() const;

 private:
  mutable std::mutex mutex_;
  std::vector<const Source*> sources_;
  std::vector<std::unique_ptr<const Source>> owned_;
};

}  // namespace sluice::telemetry
