#include "sluice/result.h"

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
  return text + message;
}

}  // namespace sluice
