#include "command_line.h"

#include <cstdio>

#include "base/display_text.h"

namespace sluice::app {

bool ReadAttributes(const std::vector<std::string>& words, std::vector<Attribute>& attributes) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      std::fprintf(stderr,
                   "sluice: %s is not an attribute: write key=value, such as user_id=u_42\n",
                   base::DisplayText(word).c_str());
      return false;
    }
    const std::string_view text = word;
    attributes.push_back({.name = text.substr(0, equals), .value = text.substr(equals + 1)});
  }
  return true;
}

}  // namespace sluice::app
