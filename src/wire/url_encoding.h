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

// Appends `text` percent-decoded. False, with something appended, if an escape is not '%' and two
// hex digits, or if the result is not UTF-8: JSON could not represent it, and a value must be the
// same key in every protocol.
[[nodiscard]] bool AppendPercentDecoded(std::string& out, std::string_view text, UrlPart part);

// Appends the path `text`, percent-decoded as far as possible: a '%' without two hex digits stays,
// and each byte that is not UTF-8 becomes U+FFFD. For paths that must have some value, so that a
// client cannot avoid a rule by a malformed path.
void AppendPercentDecodedLeniently(std::string& out, std::string_view text);

// The byte that the escape at text[at] encodes ("%41": 65), or -1 if there is no escape. Requires
// at < text.size().
[[nodiscard]] int EscapedByte(std::string_view text, std::size_t at);

// Replaces each byte of out[begin..] that is not UTF-8 by U+FFFD.
void RepairUtf8(std::string& out, std::size_t begin);

// Appends `text` with all characters escaped except RFC 3986's unreserved ones.
void AppendPercentEncoded(std::string& out, std::string_view text);

}  // namespace sluice::wire
