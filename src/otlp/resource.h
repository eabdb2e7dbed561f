#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/time.h"

// OpenTelemetry's protocol (OTLP 1.x): its messages and how they are sent. The numbers of fields
// are those of the published opentelemetry/proto, which tests decode every message with.
namespace sluice::otlp {

// Who sends: attributes that all metrics and spans of this process have.
struct Resource {
  std::string service_name;
  std::string service_version;
  std::string service_instance_id;
  std::vector<std::pair<std::string, std::string>> attributes{};  // Of the configuration.
};

// Appends a `resource` (field 1 of a message) and nothing else: the message is made of pieces.
void AppendResource(const Resource& resource, std::string& out);
// The same of the `scope` of a ScopeMetrics or ScopeSpans.
void AppendScope(std::string_view version, std::string& out);
// Appends field `field`, a KeyValue with a text.
void AppendAttribute(std::uint32_t field, std::string_view key, std::string_view value,
                     std::string& out);

// Unix time in nanoseconds, as all messages state times.
[[nodiscard]] inline std::uint64_t Nanos(WallInstant instant) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, instant.time_since_epoch().count()));
}

// What an answer of a collector with status 200 says it did not take.
struct PartialSuccess {
  std::int64_t rejected = 0;
  std::string message;
};
// Reads the answer to an export of metrics or of spans; what is no such message is taken for one
// that says nothing.
[[nodiscard]] PartialSuccess ReadPartialSuccess(std::string_view answer);

}  // namespace sluice::otlp
