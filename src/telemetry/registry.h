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

  // All metrics in Prometheus' text format, for the content type text/plain; version=0.0.4.
  [[nodiscard]] std::string Text() const;

 private:
  mutable std::mutex mutex_;
  std::vector<const Source*> sources_;
  std::vector<std::unique_ptr<const Source>> owned_;
};

}  // namespace sluice::telemetry
