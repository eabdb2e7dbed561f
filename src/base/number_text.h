#pragma once

#include <array>
#include <string_view>

namespace sluice {

// Whether `text` is a number as JSON writes it (RFC 8259): 5, -1.50, 1e3; not +5, 007, .5 or 0x10.
[[nodiscard]] bool IsJsonNumber(std::string_view text);

// Room for a number's text when it is rewritten: the shortest of a double has 24 characters.
using NumberBuffer = std::array<char, 32>;

// The one text that a number has as an attribute, however it is written: a whole number's digits
// (-0 is 0), a fraction's shortest decimal text. So 1.50, 1.5 and 15e-1 are "1.5", and 1e3 is
// "1000". A fraction beyond a double's range stays as written. Requires IsJsonNumber(number). Views
// `number`, `buffer` or a constant.
[[nodiscard]] std::string_view NumberText(std::string_view number, NumberBuffer& buffer);

}  // namespace sluice
