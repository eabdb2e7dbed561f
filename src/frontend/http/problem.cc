#include "frontend/http/problem.h"

#include <cstddef>
#include <cstdint>

#include "frontend/http/numbers.h"
#include "wire/http1_response.h"

namespace sluice::frontend::http {

namespace {

// The length of the UTF-8 sequence that `text` begins with (RFC 3629), or 0 if none.
std::size_t SequenceLength(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    return 1;
  }
  const std::size_t length = lead < 0xC2   ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || length > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) {
      return 0;
    }
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool beyond = (lead == 0xED && byte(1) > 0x9F) || (lead == 0xF4 && byte(1) > 0x8F);
  return overlong || beyond ? 0 : length;
}

void AppendEscaped(unsigned char c, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  if (c == '"' || c == '\\') {
    out += '\\';
    out += static_cast<char>(c);
  } else if (c < 0x20 || c == 0x7F) {
    out += "\\u00";
    out += kHex[c >> 4];
    out += kHex[c & 15];
  } else {
    out += static_cast<char>(c);
  }
}

}  // namespace

void AppendJsonString(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const std::size_t length = SequenceLength(text);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (length == 1) {
      AppendEscaped(static_cast<unsigned char>(text[0]), out);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

void AppendProblem(const Problem& problem, std::string& out) {
  out += R"({"type": "about:blank", "title": )";
  AppendJsonString(problem.title.empty() ? wire::StatusPhrase(problem.status) : problem.title, out);
  out += ", \"status\": ";
  AppendNumber(out, problem.status);
  out += ", \"detail\": ";
  AppendJsonString(problem.detail, out);
  if (!problem.code.empty()) {
    out += ", \"code\": ";
    AppendJsonString(problem.code, out);
  }
  if (problem.place != nullptr) {
    out += ", \"position\": {\"offset\": ";
    AppendNumber(out, static_cast<std::int64_t>(problem.place->offset));
    out += ", \"line\": ";
    AppendNumber(out, problem.place->line);
    out += ", \"column\": ";
    AppendNumber(out, problem.place->column);
    out += '}';
  }
  out += '}';
}

}  // namespace sluice::frontend::http
