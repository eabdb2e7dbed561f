#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// The one filter between texts from clients and their readers: a terminal, a log, a page. Keys,
// paths, user agents and host names come from clients, and a terminal obeys control sequences in
// them: it moves the cursor, changes colours, sets the window's title, or shows a line in another
// order than it is written.
namespace sluice::base {

// Whether a reader sees this character as itself. False for control characters (C0, DEL, C1), for
// what changes the direction of a line (U+202A to U+202E, U+2066 to U+2069 and the marks), for line
// and paragraph separators, and for characters that show nothing (zero-width, tags, U+FEFF).
[[nodiscard]] bool IsDisplayable(char32_t code);

enum class LineFeeds : std::uint8_t {
  kEscaped,  // One value: it has one line.
  kKept,     // A complete message of Sluice, which may have several.
};

// Appends `text` with everything that is not displayable written out: "\x1b" for a byte (a control
// character of ASCII, or one that is no UTF-8), "\u202e" or "\u{e0041}" for any other character. A
// backslash stays itself, so that the result is for reading and cannot be turned back. What is
// appended is UTF-8, whatever `text` is. Idempotent. Pure; any thread.
void AppendDisplayText(std::string_view text, std::string& out,
                       LineFeeds line_feeds = LineFeeds::kEscaped);
[[nodiscard]] std::string DisplayText(std::string_view text,
                                      LineFeeds line_feeds = LineFeeds::kEscaped);

// DisplayText() of one value, cut between two characters so that it takes at most `columns` columns
// of a terminal; "…" is its last column where something was cut. A character of East Asia and an
// emoji take two columns, a combining mark none. 0 columns: "".
[[nodiscard]] std::string DisplayText(std::string_view text, std::size_t columns);

// The columns that a displayable text takes.
[[nodiscard]] std::size_t ColumnsOf(std::string_view text);

}  // namespace sluice::base
