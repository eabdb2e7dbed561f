#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::wire {

enum class UrlPart : std::uint8_t {
  kPath,   // '+' is itself.
  kQuery,  // '+' is a space, as forms write it.
};

// Appends `text` with its percent-encoding undone. False, with something appended, where an
// escape is no '%' and two hex digits, or where what comes out is no UTF-8: JSON could not say
// it either, and a value must be the same key whichever way it comes.
[[nodiscard]] bool AppendPercentDecoded(std::string& out, std::string_view text, UrlPart part);

// Appends the path `text` with its percent-encoding undone as far as it goes: a '%' without its two
// hex digits stays, and each byte that is no UTF-8 becomes U+FFFD. For what has to have some value,
// so that its writer cannot pass for nothing by writing it badly.
void AppendPercentDecodedLeniently(std::string& out, std::string_view text);

// The byte that the escape at text[at] stands for ("%41": 65), or -1 where none is. Requires
// at < text.size().
[[nodiscard]] int EscapedByte(std::string_view text, std::size_t at);

// Puts U+FFFD in place of each byte of out[begin..] that is no UTF-8.
void RepairUtf8(std::string& out, std::size_t begin);

// Appends `text` with all but RFC 3986's unreserved characters escaped.
void AppendPercentEncoded(std::string& out, std::string_view text);

}  // namespace sluice::wire
