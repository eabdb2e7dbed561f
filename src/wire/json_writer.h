#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sluice::wire {

// Appends `text` as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD, so the
// result is always valid (RFC 8259, 8.1).
void AppendJsonString(std::string& out, std::string_view text);

// Appends one JSON text to a string: no tree, and no allocation except the string's growth. The
// caller keeps the order (a Name before each value of an object); the writer inserts commas. At
// most 64 levels deep.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& BeginObject() { return Begin('{'); }
  JsonWriter& EndObject() { return End('}'); }
  JsonWriter& BeginArray() { return Begin('['); }
  JsonWriter& EndArray() { return End(']'); }

  // A member's name that needs no escaping, such as our own names.
  JsonWriter& Name(std::string_view name);
  // A member's name from a client.
  JsonWriter& EscapedName(std::string_view name);

  JsonWriter& Text(std::string_view text);
  JsonWriter& Number(std::int64_t number);
  JsonWriter& Truth(bool truth);
  JsonWriter& Null();
  // Text that is already JSON.
  JsonWriter& Raw(std::string_view json);

 private:
  JsonWriter& Begin(char bracket);
  JsonWriter& End(char bracket);
  void Separate();

  std::string& out_;
  std::uint64_t started_ = 0;  // One bit per level: whether anything has been written on it.
  int depth_ = 0;
  bool after_name_ = false;
};

// Problem details (RFC 9457). Empty members are left out; an empty type means about:blank.
struct Problem {
  std::string_view type{};
  std::string_view title{};
  int status = 0;
  std::string_view detail{};
  std::string_view code{};  // Sluice's own, for machines: invalid_cost.
  std::span<const std::string_view> violated_policies{};
};

// Appends the members to an object that the caller has begun, so that it can have more members.
void AppendProblemMembers(JsonWriter& json, const Problem& problem);

// Appends the whole object.
void AppendProblem(std::string& out, const Problem& problem);

}  // namespace sluice::wire
