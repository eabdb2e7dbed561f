#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/exposition.h"

namespace sluice::telemetry {

// Whatever can write its metrics: the service's, the daemon's connections, a table.
class Source {
 public:
  virtual ~Source() = default;
  // Called by whoever scrapes, on its thread. Each family is written by one source only.
  virtual void Write(Exposition& out) const = 0;
};

// Everything that a scrape shows, in the order in which it was added. Made in main() and
// handed down; what is added must outlive every scrape. Safe from any thread.
class Registry {
 public:
  Registry() = default;
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  void Add(const Source& source);
  // One number that its owner knows already: table occupancy, open connections, rules in
  // force. `name` says its unit; `read` is called at each scrape.
  void AddGauge(std::string name, std::string help, std::function<double()> read);
  // The same for a count that only grows; `name` ends in _total.
  void AddCounter(std::string name, std::string help, std::function<std::uint64_t()> read);

  // All of it in Prometheus' text format, to be served as text/plain; version=0.0.4.
  [[nodiscard]] std::string Text() const;

 private:
  mutable std::mutex mutex_;
  std::vector<const Source*> sources_;
  std::vector<std::unique_ptr<const Source>> owned_;
};

}  // namespace sluice::telemetry
