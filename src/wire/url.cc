#include "wire/url.h"

#include "wire/ascii.h"
#include "wire/utf8.h"

namespace sluice::wire {
namespace {

bool IsUnreserved(char c) {
  const char lower = ToLower(c);
  return (lower >= 'a' && lower <= 'z') || IsDigit(c) || c == '-' || c == '.' || c == '_' ||
         c == '~';
}

}  // namespace

bool AppendPercentDecoded(std::string& out, std::string_view text, UrlPart part) {
  const std::size_t begin = out.size();
  for (std::size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '%') {
      const int high = text.size() - at < 3 ? -1 : HexValue(text[at + 1]);
      const int low = high < 0 ? -1 : HexValue(text[at + 2]);
      if (low < 0) {
        return false;
      }
      c = static_cast<char>(high * 16 + low);
      at += 2;
    } else if (c == '+' && part == UrlPart::kQuery) {
      c = ' ';
    }
    out.push_back(c);
  }
  return IsUtf8(std::string_view(out).substr(begin));
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
