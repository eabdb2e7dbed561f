#include "wire/struct_value.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <protozero/pbf_writer.hpp>

#include "wire/json_writer.h"

namespace sluice::wire {

namespace {

// Field numbers of google/protobuf/struct.proto.
constexpr protozero::pbf_tag_type kFields = 1;      // Struct: map<string, Value>.
constexpr protozero::pbf_tag_type kEntryKey = 1;    // Of a map's entry.
constexpr protozero::pbf_tag_type kEntryValue = 2;  // The same.
constexpr protozero::pbf_tag_type kNull = 1;        // Value.
constexpr protozero::pbf_tag_type kNumber = 2;      // The same, to kList.
constexpr protozero::pbf_tag_type kText = 3;
constexpr protozero::pbf_tag_type kTruth = 4;
constexpr protozero::pbf_tag_type kStruct = 5;
constexpr protozero::pbf_tag_type kList = 6;
constexpr protozero::pbf_tag_type kListValues = 1;  // ListValue.

// A number as JSON text; whole numbers without a fraction.
std::string NumberText(double number) {
  if (!std::isfinite(number)) {
    return "null";
  }
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (std::trunc(number) == number && std::abs(number) <= kExact) {
    return fmt::format("{}", static_cast<long long>(number));
  }
  return fmt::format("{}", number);
}

}  // namespace

void StructValue::Set(std::string_view name, StructValue value) {
  if (object() == nullptr) {
    value_ = Object{};
  }
  Object& members = std::get<Object>(value_);
  const auto found = std::ranges::find(members, name, &Member::first);
  if (found == members.end()) {
    members.emplace_back(std::string(name), std::move(value));
  } else {
    found->second = std::move(value);
  }
}

void StructValue::MergeMissing(const StructValue& other) {
  const Object* theirs = other.object();
  auto* ours = std::get_if<Object>(&value_);
  if (theirs == nullptr || ours == nullptr) {
    return;
  }
  for (const auto& [name, value] : *theirs) {
    const auto found = std::ranges::find(*ours, name, &Member::first);
    if (found == ours->end()) {
      ours->emplace_back(name, value);
    } else {
      found->second.MergeMissing(value);
    }
  }
}

void StructValue::AppendStruct(std::string& out) const {
  const Object* members = object();
  if (members == nullptr) {
    return;
  }
  protozero::pbf_writer writer(out);
  for (const auto& [name, value] : *members) {
    protozero::pbf_writer entry(writer, kFields);
    entry.add_string(kEntryKey, name);
    std::string bytes;
    value.AppendValue(bytes);
    entry.add_message(kEntryValue, bytes);
  }
}

void StructValue::AppendValue(std::string& out) const {
  protozero::pbf_writer writer(out);
  if (const auto* truth = As<bool>()) {
    writer.add_bool(kTruth, *truth);
  } else if (const auto* number = As<double>()) {
    writer.add_double(kNumber, *number);
  } else if (const auto* text = As<std::string>()) {
    writer.add_string(kText, *text);
  } else if (const auto* list = As<List>()) {
    std::string values;
    protozero::pbf_writer list_writer(values);
    for (const StructValue& item : *list) {
      std::string bytes;
      item.AppendValue(bytes);
      list_writer.add_message(kListValues, bytes);
    }
    writer.add_message(kList, values);
  } else if (object() != nullptr) {
    std::string fields;
    AppendStruct(fields);
    writer.add_message(kStruct, fields);
  } else {
    writer.add_enum(kNull, 0);
  }
}

void StructValue::AppendJson(std::string& out) const {
  if (const auto* truth = As<bool>()) {
    out += *truth ? "true" : "false";
  } else if (const auto* number = As<double>()) {
    out += NumberText(*number);
  } else if (const auto* text = As<std::string>()) {
    AppendJsonString(out, *text);
  } else if (const auto* list = As<List>()) {
    out += '[';
    for (const StructValue& item : *list) {
      out += &item == list->data() ? "" : ",";
      item.AppendJson(out);
    }
    out += ']';
  } else if (const Object* members = object()) {
    out += '{';
    for (const Member& member : *members) {
      out += &member == members->data() ? "" : ",";
      AppendJsonString(out, member.first);
      out += ':';
      member.second.AppendJson(out);
    }
    out += '}';
  } else {
    out += "null";
  }
}

}  // namespace sluice::wire
