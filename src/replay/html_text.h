#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::replay {

// `text` as HTML that shows it: what HTML would take for its own is escaped, and what is not
// displayable (base/display_text.h) is written out. Valid UTF-8, whatever `text` is.
[[nodiscard]] std::string HtmlText(std::string_view text);

// The same of a text that a client sent, cut to what is worth reading, in an element that keeps
// the direction of its letters to itself. It may be broken anywhere.
[[nodiscard]] std::string HtmlClientText(std::string_view text);

}  // namespace sluice::replay
