#pragma once

// The little of JSON that answers of Sluice and bodies of problems need.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text.h"

namespace sluice_client::detail {

// A JSON value. Whole numbers keep their value up to kMostMs; other numbers are only known to be
// there. Of a name that comes twice, the last one counts.
struct Json {
  enum class Kind { kNull, kFalse, kTrue, kInteger, kNumber, kText, kArray, kObject };
  Kind kind = Kind::kNull;
  std::int64_t integer = 0;
  std::string text;
  std::vector<Json> items;         // Of an array; of an object: the values.
  std::vector<std::string> names;  // Of an object.

  [[nodiscard]] const Json* Find(std::string_view name) const {
    for (std::size_t i = names.size(); i-- > 0;) {
      if (names[i] == name) {
        return &items[i];
      }
    }
    return nullptr;
  }
  [[nodiscard]] bool IsTrue(std::string_view name) const {
    const Json* const found = Find(name);
    return found != nullptr && found->kind == Kind::kTrue;
  }
  [[nodiscard]] std::optional<std::int64_t> Integer(std::string_view name) const {
    const Json* const found = Find(name);
    if (found == nullptr || found->kind != Kind::kInteger) {
      return std::nullopt;
    }
    return found->integer;
  }
  [[nodiscard]] std::string Text(std::string_view name) const {
    const Json* const found = Find(name);
    return found != nullptr && found->kind == Kind::kText ? found->text : std::string();
  }
};

// Reads one JSON text (RFC 8259). Nothing if it is malformed or nested deeper than 32.
class JsonReader {
 public:
  [[nodiscard]] static std::optional<Json> Read(std::string_view text) {
    JsonReader reader(text);
    Json value;
    if (!reader.Value(value, 0)) {
      return std::nullopt;
    }
    reader.Space();
    return reader.rest_.empty() ? std::optional<Json>(std::move(value)) : std::nullopt;
  }

 private:
  static constexpr int kDeepest = 32;

  explicit JsonReader(std::string_view text) : rest_(text) {}

  void Space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  bool Take(std::string_view literal) {
    if (rest_.substr(0, literal.size()) != literal) {
      return false;
    }
    rest_.remove_prefix(literal.size());
    return true;
  }
  bool Value(Json& out, int depth) {
    Space();
    if (rest_.empty() || depth > kDeepest) {
      return false;
    }
    switch (rest_.front()) {
      case '{':
        return List(out, Json::Kind::kObject, '}', depth);
      case '[':
        return List(out, Json::Kind::kArray, ']', depth);
      case '"':
        out.kind = Json::Kind::kText;
        return Text(out.text);
      case 't':
        out.kind = Json::Kind::kTrue;
        return Take("true");
      case 'f':
        out.kind = Json::Kind::kFalse;
        return Take("false");
      case 'n':
        return Take("null");
      default:
        return Number(out);
    }
  }
  bool List(Json& out, Json::Kind kind, char end, int depth) {
    out.kind = kind;
    rest_.remove_prefix(1);
    Space();
    if (Take({&end, 1})) {
      return true;
    }
    while (true) {
      if (kind == Json::Kind::kObject) {
        Space();
        if (rest_.empty() || rest_.front() != '"' || !Text(out.names.emplace_back())) {
          return false;
        }
        Space();
        if (!Take(":")) {
          return false;
        }
      }
      if (!Value(out.items.emplace_back(), depth + 1)) {
        return false;
      }
      Space();
      if (Take({&end, 1})) {
        return true;
      }
      if (!Take(",")) {
        return false;
      }
    }
  }
  std::string_view Digits() {
    const std::string_view digits =
        rest_.substr(0, std::min(rest_.find_first_not_of("0123456789"), rest_.size()));
    rest_.remove_prefix(digits.size());
    return digits;
  }
  bool Number(Json& out) {
    const bool negative = Take("-");
    const std::string_view digits = Digits();
    if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) {
      return false;
    }
    out.kind = Json::Kind::kInteger;
    for (const char digit : digits) {
      out.integer = std::min(out.integer * 10 + (digit - '0'), kMostMs);
    }
    out.integer = negative ? -out.integer : out.integer;
    if (Take(".")) {
      out.kind = Json::Kind::kNumber;
      if (Digits().empty()) {
        return false;
      }
    }
    if (Take("e") || Take("E")) {
      out.kind = Json::Kind::kNumber;
      if (!Take("+")) {
        Take("-");
      }
      return !Digits().empty();
    }
    return true;
  }
  bool Text(std::string& out) {
    rest_.remove_prefix(1);
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') {
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) {
        return false;
      }
      if (c != '\\') {
        out += c;
      } else if (!Escape(out)) {
        return false;
      }
    }
    return false;
  }
  bool Escape(std::string& out) {
    static constexpr std::string_view kNames = "\"\\/bfnrt";
    static constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    if (rest_.empty()) {
      return false;
    }
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (const std::size_t at = kNames.find(c); at != std::string_view::npos) {
      out += kValues[at];
      return true;
    }
    std::uint32_t code = 0;
    if (c != 'u' || !Hex(code)) {
      return false;
    }
    if (code >= 0xD800 && code < 0xDC00 && Take("\\u")) {
      std::uint32_t low = 0;
      if (!Hex(low) || low < 0xDC00 || low > 0xDFFF) {
        return false;
      }
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    AppendUtf8(code, out);
    return true;
  }
  bool Hex(std::uint32_t& code) {
    if (rest_.size() < 4) {
      return false;
    }
    for (int i = 0; i < 4; ++i) {
      const char c = rest_[static_cast<std::size_t>(i)];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) {
        return false;
      }
      code = code * 16 + static_cast<std::uint32_t>(digit);
    }
    rest_.remove_prefix(4);
    return true;
  }
  static void AppendUtf8(std::uint32_t code, std::string& out) {
    const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xC0 | (code >> 6));
      tail(0);
    } else if (code < 0x10000) {
      out += static_cast<char>(0xE0 | (code >> 12));
      tail(6);
      tail(0);
    } else {
      out += static_cast<char>(0xF0 | (code >> 18));
      tail(12);
      tail(6);
      tail(0);
    }
  }

  std::string_view rest_;
};

inline void AppendJsonText(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace sluice_client::detail
