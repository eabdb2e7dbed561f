#include "telemetry/registry.h"

#include <cstdint>
#include <utility>

namespace sluice::telemetry {

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

std::string Registry::Text() const {
  std::string text;
  Exposition out(text);
  const std::lock_guard lock(mutex_);
  for (const Source* source : sources_) {
    source->Write(out);
  }
  return text;
}

}  // namespace sluice::telemetry
