#include <algorithm>
#include <cstddef>

#include "yaml/scalar.h"

namespace sluice::yaml {

namespace {

// The indicators after "|" or ">".
struct BlockHeader {
  char chomp = ' ';  // '-' drops the last line break, '+' keeps all, otherwise one stays.
  int indent = 0;    // 0: the indentation of the first line.
};

bool ReadBlockHeader(Cursor& at, BlockHeader& header, Fault& fault) {
  at.Advance();
  while (!at.SpaceAt(0)) {
    const char c = at.Peek();
    if ((c == '-' || c == '+') && header.chomp == ' ') {
      header.chomp = c;
    } else if (c >= '1' && c <= '9' && header.indent == 0) {
      header.indent = c - '0';
    } else {
      fault = FaultAt(
          at, "after | or > only -, + and one digit are allowed: begin the text on the next line");
      return false;
    }
    at.Advance();
  }
  at.SkipBlanks();
  if (at.AtComment()) {
    at.SkipLine();
  }
  if (!at.AtBreakOrEnd()) {
    fault = FaultAt(at, "the text of | or > begins on the next line");
    return false;
  }
  return true;
}

// The indentation of the first line with text; `indent` + 1 if there is none. False: a blank line
// before it is longer, which is ambiguous.
bool DetectIndent(Cursor at, int indent, int& detected, Fault& fault) {
  int longest = 0;
  while (at.Peek() == '\n') {
    at.NextLine();
    const Cursor line = at;
    while (at.Peek() == ' ') {
      at.Advance();
    }
    if (!at.AtBreakOrEnd()) {
      if (at.column() <= indent || line.AtMarker()) {
        break;
      }
      detected = at.column();
      if (longest > detected) {
        fault = FaultAt(
            at, "a blank line before this one has more spaces: use the same number in both");
        return false;
      }
      return true;
    }
    longest = std::max(longest, at.column());
  }
  detected = std::max(indent + 1, longest);
  return true;
}

}  // namespace

std::optional<std::string> ReadBlockScalar(Cursor& at, int indent, Fault& fault) {
  const bool folded = at.Peek() == '>';
  BlockHeader header;
  if (!ReadBlockHeader(at, header, fault)) {
    return std::nullopt;
  }
  int width = std::max(indent, 0) + header.indent;
  if (header.indent == 0 && !DetectIndent(at, indent, width, fault)) {
    return std::nullopt;
  }
  std::string text;
  std::size_t breaks = 0;  // After the last line of text.
  bool has_text = false;
  bool was_indented = false;  // The last line of text began with a blank: it is not folded.
  while (at.Peek() == '\n') {
    Cursor line = at;
    line.NextLine();
    line.SkipSpaces(width);
    if (line.AtBreakOrEnd()) {
      ++breaks;
      at = line;
      continue;
    }
    Cursor line_begin = at;
    line_begin.NextLine();
    if (line.column() < width && line.Peek() == '\t') {
      fault = FaultAt(line, "a tab stands before a line of the text of | or >: write spaces");
      return std::nullopt;
    }
    if (line.column() < width || line_begin.AtMarker()) {
      break;
    }
    ++breaks;
    const bool is_indented = Cursor::IsBlank(line.Peek());
    if (!has_text) {
      text.append(breaks - 1, '\n');
    } else if (folded && !is_indented && !was_indented) {
      FoldLines(breaks, text);
    } else {
      text.append(breaks, '\n');
    }
    at = line;
    at.SkipLine();
    text += at.From(line.position());
    breaks = 0;
    has_text = true;
    was_indented = is_indented;
  }
  breaks += at.Peek() == '\n' ? 1 : 0;  // Of the line read last.
  if (header.chomp == '+') {
    text.append(breaks - (has_text || breaks == 0 ? 0 : 1), '\n');
  } else if (header.chomp == ' ' && has_text && breaks > 0) {
    text += '\n';
  }
  return text;
}

}  // namespace sluice::yaml
