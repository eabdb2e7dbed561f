#include "wire/grpc_health.h"

#include <exception>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "base/utf8.h"

namespace sluice::wire {

std::optional<std::string_view> ReadHealthCheckRequest(std::string_view bytes) {
  std::string_view service;
  try {
    protozero::pbf_reader message(bytes.data(), bytes.size());
    while (message.next()) {
      if (message.tag() == 1 && message.wire_type() == protozero::pbf_wire_type::length_delimited) {
        const protozero::data_view view = message.get_view();
        service = {view.data(), view.size()};
      } else {
        message.skip();
      }
    }
  } catch (const std::exception&) {  // All that protozero throws.
    return std::nullopt;
  }
  return base::IsUtf8(service) ? std::optional(service) : std::nullopt;
}

void AppendHealthCheckResponse(std::string& out, ServingStatus status) {
  protozero::pbf_writer writer(out);
  if (status != ServingStatus::kUnknown) {
    writer.add_enum(1, static_cast<int>(status));
  }
}

}  // namespace sluice::wire
