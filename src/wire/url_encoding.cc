#include "wire/url_encoding.h"

#include <cstddef>
#include <cstdint>

#include "base/utf8.h"
#include "wire/ascii.h"

namespace sluice::wire {

namespace {

bool IsUnreserved(char c) {
  const char lower = ToLower(c);
  return (lower >= 'a' && lower <= 'z') || IsDigit(c) || c == '-' || c == '.' || c == '_' ||
         c == '~';
}

}  // namespace

int EscapedByte(std::string_view text, std::size_t at) {
  const int high = text[at] != '%' || text.size() - at < 3 ? -1 : HexValue(text[at + 1]);
  const int low = high < 0 ? -1 : HexValue(text[at + 2]);
  return low < 0 ? -1 : high * 16 + low;
}

void RepairUtf8(std::string& out, std::size_t begin) {
  const std::string broken = out.substr(begin);
  out.resize(begin);
  for (std::string_view rest = broken; !rest.empty();) {
    const std::size_t size = base::Utf8SequenceSize(rest);
    out += size == 0 ? "\xef\xbf\xbd" : rest.substr(0, size);
    rest.remove_prefix(size == 0 ? 1 : size);
  }
}

bool AppendPercentDecoded(std::string& out, std::string_view text, UrlPart part) {
  const std::size_t begin = out.size();
  for (std::size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '%') {
      const int byte = EscapedByte(text, at);
      if (byte < 0) {
        return false;
      }
      c = static_cast<char>(byte);
      at += 2;
    } else if (c == '+' && part == UrlPart::kQuery) {
      c = ' ';
    }
    out.push_back(c);
  }
  return base::IsUtf8(std::string_view(out).substr(begin));
}

void AppendPercentDecodedLeniently(std::string& out, std::string_view text) {
  const std::size_t begin = out.size();
  for (std::size_t at = 0; at < text.size(); ++at) {
    const int byte = EscapedByte(text, at);
    out.push_back(byte < 0 ? text[at] : static_cast<char>(byte));
    at += byte < 0 ? 0 : 2;
  }
  if (!base::IsUtf8(std::string_view(out).substr(begin))) {
    RepairUtf8(out, begin);
  }
}

void AppendPercentEncoded(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  for (const char c : text) {
    if (IsUnreserved(c)) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.push_back('%');
      out.push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 15]);
    }
  }
}

}  // namespace sluice::wire
