#include "insight/request_span.h"

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "sluice/reason.h"

#include "base/random.h"

namespace sluice::insight {

namespace {

// The one that the verdict went by; else the first that denied, or the first of all.
std::optional<DecisionRecord> Governing(const RequestRecord& request) {
  const std::size_t count = request.decisions.size();
  if (count == 0) {
    return std::nullopt;
  }
  if (request.governing >= 0) {
    return request.decisions.At(static_cast<std::size_t>(request.governing));
  }
  for (std::size_t i = 0; i < count; ++i) {
    DecisionRecord decision = request.decisions.At(i);
    if (!decision.decision->allowed && !decision.decision->shadow) {
      return decision;
    }
  }
  return request.decisions.At(0);
}

Duration WaitOf(const Decision& decision) {
  return decision.allowed                             ? decision.wait
         : decision.retry_after >= Decision::kUnknown ? Duration(-1)
                                                      : decision.retry_after;
}

}  // namespace

telemetry::Span SpanOf(const RequestRecord& request) noexcept {
  const auto now = std::chrono::steady_clock::now();
  telemetry::Span span;
  span.trace_id = request.trace->trace_id();
  span.parent_id = request.trace->parent_id();
  span.id = std::bit_cast<std::array<std::uint8_t, 8>>(base::ThreadRandom().Next() | 1U);
  span.duration = now - request.trace->taken_at();
  span.start = WallInstant(std::chrono::system_clock::now().time_since_epoch()) - span.duration;
  if (request.asked != std::chrono::steady_clock::time_point()) {
    span.store = now - request.asked;
  }
  span.allowed = request.allowed;
  span.outcome = "no_rule";
  if (request.request_id != nullptr) {
    span.request_id = request.request_id->View();
  }
  if (const auto decision = Governing(request)) {
    span.rule = decision->rule;
    span.outcome = NameOf(decision->outcome);
    span.degraded = decision->decision->degraded;
    span.wait = WaitOf(*decision->decision);
    if (!decision->decision->allowed) {
      span.reason = RowOf(decision->decision->reason).name;
    }
  }
  return span;
}

}  // namespace sluice::insight
