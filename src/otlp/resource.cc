#include "otlp/resource.h"

#include <cstdint>
#include <exception>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "base/display_text.h"

namespace sluice::otlp {

namespace {

// Protobuf requires UTF-8 of texts; a client may have chosen it.
std::string Text(std::string_view value) {
  return base::DisplayText(value, base::LineFeeds::kKept);
}

}  // namespace

void AppendAttribute(std::uint32_t field, std::string_view key, std::string_view value,
                     std::string& out) {
  protozero::pbf_writer message(out);
  protozero::pbf_writer pair(message, field);
  pair.add_string(1, key.data(), key.size());
  protozero::pbf_writer any(pair, 2);
  any.add_string(1, Text(value));
}

void AppendResource(const Resource& resource, std::string& out) {
  std::string attributes;
  AppendAttribute(1, "service.name", resource.service_name, attributes);
  AppendAttribute(1, "service.version", resource.service_version, attributes);
  AppendAttribute(1, "service.instance.id", resource.service_instance_id, attributes);
  for (const auto& [key, value] : resource.attributes) {
    AppendAttribute(1, key, value, attributes);
  }
  protozero::pbf_writer(out).add_message(1, attributes);
}

void AppendScope(std::string_view version, std::string& out) {
  protozero::pbf_writer message(out);
  protozero::pbf_writer scope(message, 1);
  scope.add_string(1, "sluice");
  scope.add_string(2, version.data(), version.size());
}

PartialSuccess ReadPartialSuccess(std::string_view answer) {
  PartialSuccess result;
  try {
    protozero::pbf_reader response(answer.data(), answer.size());
    while (response.next(1, protozero::pbf_wire_type::length_delimited)) {
      protozero::pbf_reader partial = response.get_message();
      while (partial.next()) {
        if (partial.tag_and_type() ==
            protozero::tag_and_type(1, protozero::pbf_wire_type::varint)) {
          result.rejected = partial.get_int64();
        } else if (partial.tag_and_type() ==
                   protozero::tag_and_type(2, protozero::pbf_wire_type::length_delimited)) {
          result.message = partial.get_string();
        } else {
          partial.skip();
        }
      }
    }
  } catch (const std::exception&) {  // Of protozero, for what is no message.
    return {};
  }
  return result;
}

}  // namespace sluice::otlp
