#include "wire/rls_response.h"

#include <protozero/pbf_writer.hpp>

#include "wire/json_writer.h"

namespace sluice::wire {

namespace {

std::string_view NameOf(RlsCode code) {
  switch (code) {
    case RlsCode::kOk:
      return "OK";
    case RlsCode::kOverLimit:
      return "OVER_LIMIT";
    case RlsCode::kUnknown:
      break;
  }
  return "UNKNOWN";
}

void AppendStatus(protozero::pbf_writer& response, const RlsStatus& status) {
  protozero::pbf_writer writer(response, 2);
  writer.add_enum(1, static_cast<int>(status.code));
  if (status.has_limit) {
    {
      protozero::pbf_writer limit(writer, 2);
      if (status.requests_per_unit != 0) {
        limit.add_uint32(1, status.requests_per_unit);
      }
      if (status.unit != 0) {
        limit.add_enum(2, static_cast<std::int32_t>(status.unit));
      }
      if (!status.name.empty()) {
        limit.add_string(3, status.name.data(), status.name.size());
      }
    }
  }
  if (status.limit_remaining != 0) {
    writer.add_uint32(3, status.limit_remaining);
  }
  if (status.has_limit) {
    protozero::pbf_writer duration(writer, 4);
    if (status.seconds_until_reset != 0) {
      duration.add_int64(1, status.seconds_until_reset);
    }
  }
}

}  // namespace

void RlsResponse::Clear() {
  overall_code = RlsCode::kUnknown;
  statuses.clear();
  response_headers_to_add.clear();
  if (!dynamic_metadata.is_null()) {
    dynamic_metadata = StructValue();
  }
}

void RlsResponse::AppendMessage(std::string& out) const {
  protozero::pbf_writer writer(out);
  if (overall_code != RlsCode::kUnknown) {
    writer.add_enum(1, static_cast<int>(overall_code));
  }
  for (const RlsStatus& status : statuses) {
    AppendStatus(writer, status);
  }
  for (const RlsHeader& header : response_headers_to_add) {
    protozero::pbf_writer field(writer, 3);
    field.add_string(1, header.key.data(), header.key.size());
    field.add_string(2, header.value);
  }
  if (!dynamic_metadata.is_null()) {
    std::string bytes;
    dynamic_metadata.AppendStruct(bytes);
    writer.add_message(6, bytes);
  }
}

void RlsResponse::AppendJson(std::string& out) const {
  JsonWriter json(out);
  json.BeginObject();
  if (overall_code != RlsCode::kUnknown) {
    json.Name("overallCode").Text(NameOf(overall_code));
  }
  if (!statuses.empty()) {
    json.Name("statuses").BeginArray();
    for (const RlsStatus& status : statuses) {
      json.BeginObject().Name("code").Text(NameOf(status.code));
      if (status.has_limit) {
        json.Name("currentLimit").BeginObject();
        if (status.requests_per_unit != 0) {
          json.Name("requestsPerUnit").Number(status.requests_per_unit);
        }
        if (status.unit != 0) {
          json.Name("unit").Text(status.unit_name);
        }
        if (!status.name.empty()) {
          json.Name("name").Text(status.name);
        }
        json.EndObject();
      }
      if (status.limit_remaining != 0) {
        json.Name("limitRemaining").Number(status.limit_remaining);
      }
      if (status.has_limit) {
        json.Name("durationUntilReset").Text(std::to_string(status.seconds_until_reset) + "s");
      }
      json.EndObject();
    }
    json.EndArray();
  }
  if (!response_headers_to_add.empty()) {
    json.Name("responseHeadersToAdd").BeginArray();
    for (const RlsHeader& header : response_headers_to_add) {
      json.BeginObject();
      json.Name("key").Text(header.key).Name("value").Text(header.value);
      json.EndObject();
    }
    json.EndArray();
  }
  if (!dynamic_metadata.is_null()) {
    std::string metadata;
    dynamic_metadata.AppendJson(metadata);
    json.Name("dynamicMetadata").Raw(metadata);
  }
  json.EndObject();
}

}  // namespace sluice::wire
