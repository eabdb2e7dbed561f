#pragma once

#include <span>
#include <string>

#include "otlp/resource.h"
#include "telemetry/span_queue.h"

namespace sluice::otlp {

// Spans as one ExportTraceServiceRequest: each of kind server, a child of the span that its request
// named. docs/monitoring.md lists the attributes.
[[nodiscard]] std::string TraceMessage(const Resource& resource,
                                       std::span<const telemetry::Span> spans);

}  // namespace sluice::otlp
