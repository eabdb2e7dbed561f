#include "otlp/exporter.h"

#include <array>
#include <chrono>
#include <limits>
#include <string_view>
#include <utility>

#include "net/event_loop.h"
#include "otlp/metrics_message.h"
#include "otlp/trace_message.h"

namespace sluice::otlp {

namespace {

constexpr Duration kSpansEvery = std::chrono::seconds(1);
constexpr std::size_t kSpansInMessage = 512;

}  // namespace

Exporter::Exporter(net::EventLoop& loop, const telemetry::Registry& registry,
                   telemetry::SpanQueue* spans, const base::Clock& clock, ExporterSettings settings,
                   const Sender::OnEvent& on_event)
    : loop_(loop),
      registry_(registry),
      spans_(spans),
      clock_(clock),
      settings_(std::move(settings)),
      started_(clock.Read().wall_clock),
      metrics_(loop, settings_.collector, "/v1/metrics", on_event),
      traces_(loop, settings_.collector, "/v1/traces", on_event),
      metrics_timer_([this] { OnInterval(); }),
      spans_timer_([this] { SendSpans(kSpansInMessage); }) {}

void Exporter::Start() {
  loop_.ArmAfter(metrics_timer_, settings_.interval);
  if (spans_ != nullptr) {
    loop_.ArmAfter(spans_timer_, kSpansEvery);
  }
}

void Exporter::Drain() {
  metrics_timer_.Cancel();
  SendSpans(std::numeric_limits<std::size_t>::max());
  spans_timer_.Cancel();
  SendMetrics();
}

void Exporter::OnInterval() {
  SendMetrics();
  loop_.ArmAfter(metrics_timer_, settings_.interval);
}

void Exporter::SendSpans(std::size_t most) {
  if (spans_ == nullptr) {
    return;
  }
  loop_.ArmAfter(spans_timer_, kSpansEvery);
  if (!traces_.ready(std::chrono::steady_clock::now())) {
    return;
  }
  if (batch_.size() < most) {
    spans_->Take(most - batch_.size(), batch_);
  }
  if (!batch_.empty()) {
    traces_.Send(TraceMessage(settings_.resource, batch_),
                 [this](Sent result) { OnSpansSent(result); });
  }
}

void Exporter::OnSpansSent(Sent result) {
  if (result == Sent::kFailed) {
    return;  // The same spans again, once the sender has rested.
  }
  auto& count = result == Sent::kTaken ? spans_sent_ : spans_rejected_;
  count.fetch_add(batch_.size(), std::memory_order_relaxed);
  const bool there_may_be_more = batch_.size() >= kSpansInMessage;
  batch_.clear();
  if (there_may_be_more && spans_timer_.armed()) {
    SendSpans(kSpansInMessage);
  }
}

void Exporter::SendMetrics() {
  if (!metrics_.ready(std::chrono::steady_clock::now())) {
    return;
  }
  MetricsMessage message(started_, clock_.Read().wall_clock);
  registry_.Write(message);
  metrics_.Send(message.Finish(settings_.resource), nullptr);
}

void Exporter::Write(telemetry::Exposition& out) const {
  out.Family("sluice_otlp_exports_total", "Messages to the collector by signal and result.",
             telemetry::Exposition::Type::kCounter);
  const auto write = [&out](std::string_view signal, const Sender& sender) {
    constexpr std::array<std::string_view, kSentResults> kNames{"sent", "failed", "rejected"};
    for (std::size_t i = 0; i < kSentResults; ++i) {
      const std::array labels{telemetry::Label{.name = "signal", .value = signal},
                              telemetry::Label{.name = "result", .value = kNames[i]}};
      out.Sample("sluice_otlp_exports_total", labels, sender.count(static_cast<Sent>(i)));
    }
  };
  write("metrics", metrics_);
  if (spans_ == nullptr) {
    return;
  }
  write("traces", traces_);
  out.Family("sluice_spans_total", "Spans of sampled requests by result.",
             telemetry::Exposition::Type::kCounter);
  const auto write_spans = [&out](std::string_view result, std::uint64_t count) {
    out.Sample("sluice_spans_total",
               std::array{telemetry::Label{.name = "result", .value = result}}, count);
  };
  write_spans("sent", spans_sent_.load(std::memory_order_relaxed));
  write_spans("rejected", spans_rejected_.load(std::memory_order_relaxed));
  write_spans("dropped", spans_->dropped());
}

}  // namespace sluice::otlp
