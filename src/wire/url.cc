#include "wire/url.h"

#include <algorithm>

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

std::optional<std::string> DecodePercent(std::string_view text, UrlPart part) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '%') {
      if (text.size() - at < 3) {
        return std::nullopt;
      }
      const int high = HexValue(text[at + 1]);
      const int low = HexValue(text[at + 2]);
      if (high < 0 || low < 0) {
        return std::nullopt;
      }
      c = static_cast<char>(high * 16 + low);
      at += 2;
    } else if (c == '+' && part == UrlPart::kQuery) {
      c = ' ';
    }
    if (c == '\0') {
      return std::nullopt;
    }
    decoded.push_back(c);
  }
  if (!IsUtf8(decoded)) {
    return std::nullopt;
  }
  return decoded;
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

std::optional<QueryPairs> ReadQuery(std::string_view query, std::size_t max_pairs) {
  QueryPairs pairs;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) {
      continue;
    }
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = DecodePercent(pair.substr(0, equals), UrlPart::kQuery);
    auto value = DecodePercent(pair.substr(std::min(equals + 1, pair.size())), UrlPart::kQuery);
    if (!name || !value || name->empty() || pairs.size() == max_pairs) {
      return std::nullopt;
    }
    pairs.emplace_back(std::move(*name), std::move(*value));
  }
  return pairs;
}

}  // namespace sluice::wire
