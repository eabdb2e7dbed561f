#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::telemetry {

// Samples of metrics, read from Prometheus' text format (0.0.4) or added one by one. One thread.
class Samples {
 public:
  using Label = std::pair<std::string_view, std::string_view>;
  struct Sample {
    std::string name;
    std::map<std::string, std::string, std::less<>> labels;
    double value = 0;
  };

  Samples() = default;
  // Lines that are no samples are passed over, and families that `keeps` is false for.
  explicit Samples(std::string_view text,
                   const std::function<bool(std::string_view name)>& keeps = nullptr);

  void Add(Sample sample) { samples_.push_back(std::move(sample)); }

  [[nodiscard]] bool empty() const { return samples_.empty(); }
  // Over all samples of `name` that have these labels; 0 if there are none.
  [[nodiscard]] double Sum(std::string_view name, std::initializer_list<Label> labels = {}) const;
  [[nodiscard]] bool Has(std::string_view name) const;
  [[nodiscard]] const std::vector<Sample>& all() const { return samples_; }
  // All samples of `name`, in their order.
  [[nodiscard]] std::vector<const Sample*> Of(std::string_view name) const;
  // The different values of `label` among them, in their order.
  [[nodiscard]] std::vector<std::string> Values(std::string_view name,
                                                std::string_view label) const;

 private:
  std::vector<Sample> samples_;
};

}  // namespace sluice::telemetry
