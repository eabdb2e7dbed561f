#include "replay/html_text.h"

#include "base/display_text.h"

namespace sluice::replay {

namespace {

constexpr std::size_t kMostColumns = 300;

std::string Escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string HtmlText(std::string_view text) {
  return Escaped(base::DisplayText(text));
}

std::string HtmlClientText(std::string_view text) {
  return "<bdi>" + Escaped(base::DisplayText(text, kMostColumns)) + "</bdi>";
}

}  // namespace sluice::replay
