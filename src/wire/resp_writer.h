#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sluice::wire {

enum class RespVersion : std::uint8_t { k2 = 2, k3 = 3 };

// Appends replies to a string, in the client's protocol version. Types that RESP2 lacks are written
// as its clients know them: a map as an array of alternating names and values, a boolean as 1 or 0,
// null as the null bulk string.
class RespWriter {
 public:
  RespWriter(std::string& out, RespVersion version) : out_(out), version_(version) {}

  [[nodiscard]] RespVersion version() const { return version_; }

  // One line: control characters in `text` become '?'.
  void Simple(std::string_view text) { Line('+', {}, text); }
  // "-ERR message": clients distinguish errors by their first word.
  void Error(std::string_view code, std::string_view text) { Line('-', code, text); }
  void Integer(std::int64_t value) { Number(':', value); }
  void Bulk(std::string_view bytes) {
    Number('$', static_cast<std::int64_t>(bytes.size()));
    out_.append(bytes).append("\r\n", 2);
  }
  void Null() { out_ += version_ == RespVersion::k3 ? "_\r\n" : "$-1\r\n"; }
  void Truth(bool value) {
    if (version_ == RespVersion::k3) {
      out_ += value ? "#t\r\n" : "#f\r\n";
    } else {
      Integer(value ? 1 : 0);
    }
  }
  // Headers: `size` elements follow, or `pairs` names and values of a map.
  void Array(std::size_t size) { Number('*', static_cast<std::int64_t>(size)); }
  void Map(std::size_t pairs) {
    if (version_ == RespVersion::k3) {
      Number('%', static_cast<std::int64_t>(pairs));
    } else {
      Array(2 * pairs);
    }
  }

 private:
  void Number(char mark, std::int64_t value) {
    char text[24];
    text[0] = mark;
    char* end = std::to_chars(text + 1, text + sizeof text - 2, value).ptr;
    *end++ = '\r';
    *end++ = '\n';
    out_.append(text, static_cast<std::size_t>(end - text));
  }
  void Line(char mark, std::string_view code, std::string_view text);

  std::string& out_;
  RespVersion version_;
};

// Appends a command as clients send it: an array of bulk strings.
void AppendRespCommand(std::span<const std::string_view> args, std::string& out);

}  // namespace sluice::wire
