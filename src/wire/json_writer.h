#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::wire {

// Appends `text` as a JSON string, quotes included. Bytes that are no UTF-8 become U+FFFD,
// so that what is written can always be read (RFC 8259, 8.1).
void AppendJsonString(std::string& out, std::string_view text);

// Appends one JSON text to a string: no tree, no allocation but the string's growth. The
// caller keeps the order right (a Name before each value of an object); commas are put where
// they belong. At most 64 levels deep.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& BeginObject() { return Begin('{'); }
  JsonWriter& EndObject() { return End('}'); }
  JsonWriter& BeginArray() { return Begin('['); }
  JsonWriter& EndArray() { return End(']'); }

  // A member's name: needs no escaping, as our own names do not.
  JsonWriter& Name(std::string_view name);
  // A member's name that came from outside.
  JsonWriter& EscapedName(std::string_view name);

  JsonWriter& Text(std::string_view text);
  JsonWriter& Number(std::int64_t number);
  JsonWriter& Truth(bool truth);
  JsonWriter& Null();
  // What is JSON already.
  JsonWriter& Raw(std::string_view json);

 private:
  JsonWriter& Begin(char bracket);
  JsonWriter& End(char bracket);
  void Separate();

  std::string& out_;
  std::uint64_t started_ = 0;  // A bit per level: something has been written on it.
  int depth_ = 0;
  bool after_name_ = false;
};

}  // namespace sluice::wire
