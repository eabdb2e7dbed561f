#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/exposition.h"

namespace sluice::telemetry {

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
