#include "wire/rls_request.h"

#include <exception>

#include <protozero/pbf_reader.hpp>

#include "base/utf8.h"

namespace sluice::wire {

namespace {

constexpr std::string_view kMalformed = "the message is not a RateLimitRequest";
constexpr std::string_view kNotUtf8 = "string field contains invalid UTF-8";

// Whether the current field has the schema's type. A field of another type is skipped like an
// unknown field, as in protobuf's own parsers.
bool Is(const protozero::pbf_reader& message, protozero::pbf_wire_type type) {
  return message.wire_type() == type;
}

using Type = protozero::pbf_wire_type;

RlsOverride ReadOverride(std::string_view bytes, RlsOverride read) {
  protozero::pbf_reader message(bytes);
  while (message.next()) {
    if (message.tag() == 1 && Is(message, Type::varint)) {
      read.requests_per_unit = message.get_uint32();
    } else if (message.tag() == 2 && Is(message, Type::varint)) {
      read.unit = static_cast<std::uint32_t>(message.get_enum());
    } else {
      message.skip();
    }
  }
  return read;
}

std::uint64_t ReadUint64Value(std::string_view bytes, std::uint64_t value) {
  protozero::pbf_reader message(bytes);
  while (message.next()) {
    if (message.tag() == 1 && Is(message, Type::varint)) {
      value = message.get_uint64();
    } else {
      message.skip();
    }
  }
  return value;
}

}  // namespace

bool RlsRequest::Read(std::string_view bytes) {
  Clear();
  try {
    protozero::pbf_reader message(bytes.data(), bytes.size());
    while (message.next()) {
      if (message.tag() == 1 && Is(message, Type::length_delimited)) {
        domain_ = Text(message.get_view());
      } else if (message.tag() == 2 && Is(message, Type::length_delimited)) {
        ReadDescriptor(message.get_view());
      } else if (message.tag() == 3 && Is(message, Type::varint)) {
        hits_addend_ = message.get_uint32();
      } else {
        message.skip();
      }
    }
  } catch (const std::exception&) {  // protozero throws only these.
    error_ = kMalformed;
  }
  Finish();
  return error_.empty();
}

void RlsRequest::ReadDescriptor(std::string_view bytes) {
  RlsDescriptor& descriptor = AddDescriptor();
  protozero::pbf_reader message(bytes.data(), bytes.size());
  while (message.next()) {
    const bool is_message = Is(message, Type::length_delimited);
    if (message.tag() == 1 && is_message) {
      RlsEntry entry;
      protozero::pbf_reader fields(message.get_view());
      while (fields.next()) {
        const bool is_text = Is(fields, Type::length_delimited);
        if (fields.tag() == 1 && is_text) {
          entry.key = Text(fields.get_view());
        } else if (fields.tag() == 2 && is_text) {
          entry.value = Text(fields.get_view());
        } else {
          fields.skip();
        }
      }
      AddEntry(entry);
    } else if (message.tag() == 2 && is_message) {
      descriptor.limit = ReadOverride(message.get_view(), descriptor.limit.value_or(RlsOverride()));
    } else if (message.tag() == 3 && is_message) {
      descriptor.hits_addend =
          ReadUint64Value(message.get_view(), descriptor.hits_addend.value_or(0));
    } else if (message.tag() == 4 && Is(message, Type::varint)) {
      // get_bool() would read past the end of a truncated message.
      descriptor.is_negative_hits = message.get_uint64() != 0;
    } else {
      message.skip();
    }
  }
}

std::string_view RlsRequest::Text(std::string_view bytes) {
  if (!base::IsUtf8(bytes)) {
    error_ = kNotUtf8;
  }
  return bytes;
}

void RlsRequest::Clear() {
  domain_ = {};
  hits_addend_ = 0;
  descriptors_.clear();
  entries_.clear();
  begins_.clear();
  error_ = {};
}

RlsDescriptor& RlsRequest::AddDescriptor() {
  begins_.push_back(entries_.size());
  return descriptors_.emplace_back();
}

void RlsRequest::Finish() {
  const std::span<const RlsEntry> all = entries_;
  for (std::size_t i = 0; i < descriptors_.size(); ++i) {
    const std::size_t end = i + 1 < descriptors_.size() ? begins_[i + 1] : all.size();
    descriptors_[i].entries = all.subspan(begins_[i], end - begins_[i]);
  }
}

}  // namespace sluice::wire
