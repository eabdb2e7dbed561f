#include "sluice/result.h"

#include "base/display_text.h"

namespace sluice {

std::string Error::Text() const {
  std::string text = place.file;
  if (place.line > 0) {
    if (!text.empty()) {
      text += ':';
    }
    text += std::to_string(place.line) + ':' + std::to_string(place.column);
  }
  if (!text.empty()) {
    text += ": ";
  }
  return base::DisplayText(text + message, base::LineFeeds::kKept);
}

}  // namespace sluice
