#include "telemetry/samples.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace sluice::telemetry {

namespace {

// The value of a label from its opening quote on; `text` then begins behind its closing one.
std::string TakeQuoted(std::string_view& text) {
  std::string value;
  text.remove_prefix(1);
  while (!text.empty() && text.front() != '"') {
    if (text.front() == '\\' && text.size() > 1) {
      text.remove_prefix(1);
      value += text.front() == 'n' ? '\n' : text.front();
    } else {
      value += text.front();
    }
    text.remove_prefix(1);
  }
  text.remove_prefix(text.empty() ? 0 : 1);
  return value;
}

std::optional<Samples::Sample> ReadSample(std::string_view line) {
  const std::size_t name_end = line.find_first_of("{ ");
  if (line.starts_with('#') || name_end == std::string_view::npos || name_end == 0) {
    return std::nullopt;
  }
  Samples::Sample sample{.name = std::string(line.substr(0, name_end)), .labels = {}};
  line.remove_prefix(name_end);
  if (line.starts_with('{')) {
    line.remove_prefix(1);
    while (!line.empty() && !line.starts_with('}')) {
      const std::size_t equals = line.find("=\"");
      if (equals == std::string_view::npos) {
        return std::nullopt;
      }
      std::string label(line.substr(0, equals));
      line.remove_prefix(equals + 1);
      sample.labels[std::move(label)] = TakeQuoted(line);
      line.remove_prefix(line.starts_with(',') ? 1 : 0);
    }
    line.remove_prefix(line.empty() ? 0 : 1);
  }
  const std::string number(line);
  char* end = nullptr;
  sample.value = std::strtod(number.c_str(), &end);
  return end == number.c_str() ? std::nullopt : std::optional(std::move(sample));
}

bool HasLabels(const Samples::Sample& sample, std::initializer_list<Samples::Label> labels) {
  return std::ranges::all_of(labels, [&](const Samples::Label& label) {
    const auto found = sample.labels.find(label.first);
    return found != sample.labels.end() && found->second == label.second;
  });
}

}  // namespace

Samples::Samples(std::string_view text, const std::function<bool(std::string_view name)>& keeps) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const bool kept = keeps == nullptr || keeps(line.substr(0, line.find_first_of("{ ")));
    if (auto sample = kept ? ReadSample(line) : std::nullopt) {
      samples_.push_back(*std::move(sample));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

double Samples::Sum(std::string_view name, std::initializer_list<Label> labels) const {
  double sum = 0;
  for (const Sample* sample : Of(name)) {
    sum += HasLabels(*sample, labels) ? sample->value : 0;
  }
  return sum;
}

bool Samples::Has(std::string_view name) const {
  return std::ranges::find(samples_, name, &Sample::name) != samples_.end();
}

std::vector<const Samples::Sample*> Samples::Of(std::string_view name) const {
  std::vector<const Sample*> found;
  for (const Sample& sample : samples_) {
    if (sample.name == name) {
      found.push_back(&sample);
    }
  }
  return found;
}

std::vector<std::string> Samples::Values(std::string_view name, std::string_view label) const {
  std::vector<std::string> values;
  for (const Sample* sample : Of(name)) {
    const auto found = sample->labels.find(label);
    if (found != sample->labels.end() && std::ranges::find(values, found->second) == values.end()) {
      values.push_back(found->second);
    }
  }
  return values;
}

}  // namespace sluice::telemetry
