#pragma once

#include "insight/request_record.h"
#include "telemetry/span_queue.h"

namespace sluice::insight {

// What a decided request is in its trace. Requires a trace. Reads the clocks.
[[nodiscard]] telemetry::Span SpanOf(const RequestRecord& request) noexcept;

}  // namespace sluice::insight
