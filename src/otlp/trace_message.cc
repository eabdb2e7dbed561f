#include "otlp/trace_message.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <protozero/pbf_writer.hpp>

namespace sluice::otlp {

namespace {

using telemetry::Span;

constexpr std::uint32_t kAttributesField = 9;
constexpr int kServer = 2;  // SPAN_KIND_SERVER
// Of Span.flags: the trace's flags are known, and so is that the parent is remote.
constexpr std::uint32_t kFlags = 0x301;

template <std::size_t kBytes>
void AddBytes(std::uint32_t field, const std::array<std::uint8_t, kBytes>& bytes,
              protozero::pbf_writer& writer) {
  writer.add_bytes(field, reinterpret_cast<const char*>(bytes.data()), kBytes);
}

void AppendBool(std::string_view key, bool value, std::string& out) {
  protozero::pbf_writer message(out);
  protozero::pbf_writer pair(message, kAttributesField);
  pair.add_string(1, key.data(), key.size());
  protozero::pbf_writer(pair, 2).add_bool(2, value);
}

void AppendSeconds(std::string_view key, Duration value, std::string& out) {
  protozero::pbf_writer message(out);
  protozero::pbf_writer pair(message, kAttributesField);
  pair.add_string(1, key.data(), key.size());
  protozero::pbf_writer(pair, 2).add_double(4, static_cast<double>(value.count()) / 1e9);
}

void AppendText(std::string_view key, std::string_view value, std::string& out) {
  if (!value.empty()) {
    AppendAttribute(kAttributesField, key, value, out);
  }
}

std::string SpanMessage(const Span& span) {
  std::string out;
  {
    protozero::pbf_writer writer(out);
    AddBytes(1, span.trace_id, writer);
    AddBytes(2, span.id, writer);
    AddBytes(4, span.parent_id, writer);
    writer.add_string(5, "ratelimit.decide");
    writer.add_enum(6, kServer);
    writer.add_fixed64(7, Nanos(span.start));
    writer.add_fixed64(8, Nanos(span.start + span.duration));
    writer.add_fixed32(16, kFlags);
  }
  AppendText("sluice.rule", span.rule.view(), out);
  AppendText("sluice.outcome", span.outcome, out);
  AppendText("sluice.reason", span.reason, out);
  AppendText("sluice.request_id", span.request_id.view(), out);
  AppendBool("sluice.allowed", span.allowed, out);
  AppendBool("sluice.degraded", span.degraded, out);
  AppendSeconds("sluice.store.duration", span.store, out);
  if (span.wait > Duration::zero()) {
    AppendSeconds("sluice.wait", span.wait, out);
  }
  return out;
}

}  // namespace

std::string TraceMessage(const Resource& resource, std::span<const Span> spans) {
  std::string scope;
  AppendScope(resource.service_version, scope);
  for (const Span& span : spans) {
    protozero::pbf_writer(scope).add_message(2, SpanMessage(span));
  }
  std::string resource_spans;
  AppendResource(resource, resource_spans);
  protozero::pbf_writer(resource_spans).add_message(2, scope);
  std::string message;
  protozero::pbf_writer(message).add_message(1, resource_spans);
  return message;
}

}  // namespace sluice::otlp
