#include "telemetry/registry.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/display_text.h"

namespace sluice::telemetry {

namespace {

// A label's value may contain anything. A help text may contain unescaped quotes.
void AppendEscaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

template <class Number>
void AppendNumber(std::string& out, Number value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

// Microseconds as exact seconds, without floating point: 0.000005 and not 4.9999e-06.
std::string SecondsText(std::int64_t us) {
  std::string text = std::to_string(us / 1'000'000);
  if (const std::int64_t rest = us % 1'000'000; rest != 0) {
    std::string digits = std::to_string(rest);
    digits.insert(0, 6 - digits.size(), '0');
    digits.erase(digits.find_last_not_of('0') + 1);
    text += '.' + digits;
  }
  return text;
}

constexpr std::string_view NameOf(Exposition::Type type) {
  switch (type) {
    case Exposition::Type::kCounter:
      return "counter";
    case Exposition::Type::kGauge:
      return "gauge";
    case Exposition::Type::kHistogram:
      return "histogram";
  }
  return "untyped";
}

}  // namespace

void PrometheusText::Family(std::string_view name, std::string_view help, Type type) {
  out_->append("# HELP ").append(name).append(" ");
  AppendEscaped(*out_, help, false);
  out_->append("\n# TYPE ").append(name).append(" ").append(NameOf(type)).append("\n");
}

void PrometheusText::Head(std::string_view name, std::span<const Label> labels) {
  out_->append(name);
  char before = '{';
  for (const Label& label : labels) {
    *out_ += before;
    out_->append(label.name).append("=\"");
    // It may come from a client, and Prometheus rejects a scrape that is not UTF-8.
    AppendEscaped(*out_, base::DisplayText(label.value, base::LineFeeds::kKept), true);
    *out_ += '"';
    before = ',';
  }
  out_->append(labels.empty() ? " " : "} ");
}

void PrometheusText::Sample(std::string_view name, std::span<const Label> labels,
                            std::uint64_t value) {
  Head(name, labels);
  AppendNumber(*out_, value);
  *out_ += '\n';
}

void PrometheusText::Sample(std::string_view name, std::span<const Label> labels, double value) {
  Head(name, labels);
  if (std::isnan(value)) {
    *out_ += "NaN";
  } else if (std::isinf(value)) {
    *out_ += value > 0 ? "+Inf" : "-Inf";
  } else {
    AppendNumber(*out_, value);
  }
  *out_ += '\n';
}

void PrometheusText::Samples(std::string_view name, std::span<const Label> labels,
                             const Histogram::Reading& reading) {
  const std::string family(name);
  std::vector<Label> all(labels.begin(), labels.end());
  all.push_back({.name = "le", .value = {}});
  std::uint64_t up_to = 0;
  for (std::size_t i = 0; i < Histogram::kBuckets; ++i) {
    up_to += reading.counts[i];
    const std::string bound =
        i < Histogram::kBoundsUs.size() ? SecondsText(Histogram::kBoundsUs[i]) : "+Inf";
    all.back().value = bound;
    Sample(family + "_bucket", all, up_to);
  }
  Sample(family + "_sum", labels, static_cast<double>(reading.sum_ns) / 1e9);
  Sample(family + "_count", labels, reading.count);
}

namespace {

template <class Number, Exposition::Type kType>
class Single final : public Source {
 public:
  Single(std::string name, std::string help, std::function<Number()> read)
      : name_(std::move(name)), help_(std::move(help)), read_(std::move(read)) {}

  void Write(Exposition& out) const override {
    out.Family(name_, help_, kType);
    out.Sample(name_, {}, read_());
  }

 private:
  std::string name_;
  std::string help_;
  std::function<Number()> read_;
};

}  // namespace

void Registry::Add(const Source& source) {
  const std::lock_guard lock(mutex_);
  sources_.push_back(&source);
}

void Registry::AddGauge(std::string name, std::string help, std::function<double()> read) {
  auto gauge = std::make_unique<Single<double, Exposition::Type::kGauge>>(
      std::move(name), std::move(help), std::move(read));
  const std::lock_guard lock(mutex_);
  sources_.push_back(gauge.get());
  owned_.push_back(std::move(gauge));
}

void Registry::AddCounter(std::string name, std::string help, std::function<std::uint64_t()> read) {
  auto counter = std::make_unique<Single<std::uint64_t, Exposition::Type::kCounter>>(
      std::move(name), std::move(help), std::move(read));
  const std::lock_guard lock(mutex_);
  sources_.push_back(counter.get());
  owned_.push_back(std::move(counter));
}

void Registry::Write(Exposition& out) const {
  const std::lock_guard lock(mutex_);
  for (const Source* source : sources_) {
    source->Write(out);
  }
}

std::string Registry::Text() const {
  std::string text;
  PrometheusText out(text);
  Write(out);
  return text;
}

}  // namespace sluice::telemetry
