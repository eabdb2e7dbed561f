#include "sources/base64.h"

#include <algorithm>

#include "wire/url_encoding.h"

namespace sluice::sources {

std::string ToBase64(std::string_view bytes) {
  std::string text;
  wire::AppendBase64Url(text, bytes);
  std::ranges::replace(text, '-', '+');
  std::ranges::replace(text, '_', '/');
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

std::optional<std::string> FromBase64(std::string_view text) {
  if (text.size() % 4 != 0 || text.find_first_of("-_") != std::string_view::npos) {
    return std::nullopt;
  }
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) {
    text.remove_suffix(1);
  }
  std::string url(text);
  std::ranges::replace(url, '+', '-');
  std::ranges::replace(url, '/', '_');
  std::string bytes;
  return wire::AppendFromBase64Url(bytes, url) ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace sluice::sources
