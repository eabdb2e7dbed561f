#include "otlp_export.h"

#include <array>
#include <chrono>
#include <string>

#include <spdlog/spdlog.h>
#include <unistd.h>

#include "daemon_files.h"

namespace sluice::app {

namespace {

// The same after a restart, if the port of its first check listener is fixed.
std::string InstanceOf(const DaemonConfig& config) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) {
    host = {'u', 'n', 'k', 'n', 'o', 'w', 'n'};
  }
  const std::string port = FirstCheckPort(config);
  return std::string(host.data()) + ":" + (port.empty() ? std::to_string(::getpid()) : port);
}

}  // namespace

OtlpExport::OtlpExport(net::EventLoop& control, Engine& engine, const base::Clock& clock) {
  if (!engine.config.otlp) {
    return;
  }
  exporter_.emplace(control, engine.registry, engine.spans.get(), clock,
                    SettingsOf(*engine.config.otlp, InstanceOf(engine.config)),
                    [](bool good, const std::string& text) {
                      spdlog::log(good ? spdlog::level::info : spdlog::level::warn, "{}", text);
                    });
  engine.registry.Add(*exporter_);
}

void OtlpExport::Start() {
  if (exporter_) {
    exporter_->Start();
  }
}

void OtlpExport::Drain() {
  constexpr auto kLongest = std::chrono::seconds(1);
  until_ = std::chrono::steady_clock::now() + kLongest;
  if (exporter_) {
    exporter_->Drain();
  }
}

bool OtlpExport::drained() {
  return !exporter_ || exporter_->idle() || std::chrono::steady_clock::now() >= until_;
}

}  // namespace sluice::app
