#include "rules/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace sluice::rules {

namespace {

YamlFault FaultAt(const YamlCursor& at, std::string message) {
  return {.message = std::move(message), .line = at.line(), .column = at.column()};
}

// One line break between two lines of text is a blank, of several the first is dropped.
void Fold(std::size_t breaks, std::string& text) {
  if (breaks == 1) {
    text += ' ';
  } else {
    text.append(breaks - 1, '\n');
  }
}

// Whether ':' ends a text without quotes here.
bool AtPlainEnd(const YamlCursor& at, bool in_flow) {
  const char c = at.Peek();
  return (c == ':' && (at.SpaceAt(1) || (in_flow && YamlCursor::IsFlowSign(at.Peek(1))))) ||
         at.AtComment() || (in_flow && YamlCursor::IsFlowSign(c));
}

// The text of this line, without the blanks at its end.
std::string_view PlainLine(YamlCursor& at, bool in_flow) {
  const std::size_t begin = at.position();
  std::size_t end = begin;
  while (!at.AtBreakOrEnd() && !AtPlainEnd(at, in_flow)) {
    const bool blank = YamlCursor::IsBlank(at.Peek());
    at.Advance();
    end = blank ? end : at.position();
  }
  return at.From(begin).substr(0, end - begin);
}

// Goes from the end of a line to the text that goes on in a later one, and returns the line breaks
// between; 0 where there is no text.
std::size_t SkipToText(YamlCursor& at) {
  std::size_t breaks = 0;
  while (at.Peek() == '\n') {
    at.NextLine();
    at.SkipBlanks();
    ++breaks;
  }
  return at.at_end() ? 0 : breaks;
}

// The same within quotes; false where the scalar cannot go on.
bool FoldQuoted(YamlCursor& at, const YamlContext& context, std::string& text, YamlFault& fault) {
  const std::size_t breaks = SkipToText(at);
  if (breaks == 0) {
    return true;  // The end, which its reader tells.
  }
  if (at.column() == 0 && at.AtMarker()) {
    fault = FaultAt(at, "the document ends within quotes: a closing quote is missing");
    return false;
  }
  if (!GoesOnHere(at, context)) {
    fault = FaultAt(at, "this line belongs to a text in quotes: indent it more than its key");
    return false;
  }
  Fold(breaks, text);
  return true;
}

void AppendUtf8(std::uint32_t point, std::string& text) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0U | (point >> 6U));
    put(0x80U | (point & 0x3fU));
  } else if (point < 0x10000) {
    put(0xe0U | (point >> 12U));
    put(0x80U | ((point >> 6U) & 0x3fU));
    put(0x80U | (point & 0x3fU));
  } else {
    put(0xf0U | (point >> 18U));
    put(0x80U | ((point >> 12U) & 0x3fU));
    put(0x80U | ((point >> 6U) & 0x3fU));
    put(0x80U | (point & 0x3fU));
  }
}

// `count` hexadecimal digits.
std::optional<std::uint32_t> ReadHex(YamlCursor& at, int count) {
  std::uint32_t value = 0;
  for (int i = 0; i < count; ++i) {
    const char c = at.Peek();
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) {
      return std::nullopt;
    }
    value = (value << 4U) | static_cast<std::uint32_t>(digit);
    at.Advance();
  }
  return value;
}

// \xHH, \uHHHH or \UHHHHHHHH, after the letter. Two \u may make one character, as in JSON.
bool ReadCodePoint(YamlCursor& at, int digits, std::string& text) {
  auto point = ReadHex(at, digits);
  const auto is_between = [&](std::uint32_t low, std::uint32_t high) {
    return point && *point >= low && *point <= high;
  };
  if (digits == 4 && is_between(0xd800, 0xdbff) && at.AtText("\\u")) {
    const std::uint32_t first = *point;
    at.Advance(2);
    point = ReadHex(at, 4);
    if (!is_between(0xdc00, 0xdfff)) {
      return false;
    }
    point = 0x10000U + ((first - 0xd800U) << 10U) + (*point - 0xdc00U);
  }
  if (!point || is_between(0xd800, 0xdfff) || *point > 0x10ffff) {
    return false;
  }
  AppendUtf8(*point, text);
  return true;
}

struct Escape {
  char letter;
  std::string_view meaning;
};
constexpr auto kEscapes = std::to_array<Escape>({{'0', std::string_view("\0", 1)},
                                                 {'a', "\a"},
                                                 {'b', "\b"},
                                                 {'t', "\t"},
                                                 {'\t', "\t"},
                                                 {'n', "\n"},
                                                 {'v', "\v"},
                                                 {'f', "\f"},
                                                 {'r', "\r"},
                                                 {'e', "\x1b"},
                                                 {' ', " "},
                                                 {'"', "\""},
                                                 {'/', "/"},
                                                 {'\\', "\\"},
                                                 {'N', "\xc2\x85"},
                                                 {'_', "\xc2\xa0"},
                                                 {'L', "\xe2\x80\xa8"},
                                                 {'P', "\xe2\x80\xa9"}});

// Begins at the backslash; no line break follows it.
bool ReadEscape(YamlCursor& at, std::string& text, YamlFault& fault) {
  const YamlCursor begin = at;
  const char letter = at.Peek(1);
  at.Advance(2);
  const int digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
  if (digits != 0) {
    if (ReadCodePoint(at, digits, text)) {
      return true;
    }
    fault = FaultAt(begin, std::string("\\") + letter + " wants " + std::to_string(digits) +
                               " hexadecimal digits of a character");
    return false;
  }
  const auto* const known = std::ranges::find(kEscapes, letter, &Escape::letter);
  if (known == kEscapes.end()) {
    fault =
        FaultAt(begin, std::string("unknown escape \\") + letter +
                           " in double quotes: write \\\\ for a backslash, or use single quotes");
    return false;
  }
  text += known->meaning;
  return true;
}

// What stands after "|" or ">".
struct BlockHeader {
  char chomp = ' ';  // '-' drops the last line break, '+' keeps all, else one stays.
  int indent = 0;    // 0: that of the first line.
};

bool ReadBlockHeader(YamlCursor& at, BlockHeader& header, YamlFault& fault) {
  at.Advance();
  while (!at.SpaceAt(0)) {
    const char c = at.Peek();
    if ((c == '-' || c == '+') && header.chomp == ' ') {
      header.chomp = c;
    } else if (c >= '1' && c <= '9' && header.indent == 0) {
      header.indent = c - '0';
    } else {
      fault = FaultAt(
          at, "after | or > only -, + and one digit are allowed: begin the text in the next line");
      return false;
    }
    at.Advance();
  }
  at.SkipBlanks();
  if (at.AtComment()) {
    at.SkipLine();
  }
  if (!at.AtBreakOrEnd()) {
    fault = FaultAt(at, "the text of | or > begins in the next line");
    return false;
  }
  return true;
}

// The indentation of the first line that has text; `indent` + 1 where there is none. False: a blank
// line before it is longer, which is ambiguous.
bool DetectIndent(YamlCursor at, int indent, int& detected, YamlFault& fault) {
  int longest = 0;
  while (at.Peek() == '\n') {
    at.NextLine();
    const YamlCursor line = at;
    while (at.Peek() == ' ') {
      at.Advance();
    }
    if (!at.AtBreakOrEnd()) {
      if (at.column() <= indent || line.AtMarker()) {
        break;
      }
      detected = at.column();
      if (longest > detected) {
        fault = FaultAt(at, "a blank line before this one has more spaces: give both as many");
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

bool CanBeginPlain(const YamlCursor& at, bool in_flow) {
  constexpr std::string_view kSigns = ",[]{}#&*!|>'\"%@`";
  const char c = at.Peek();
  if (at.SpaceAt(0) || kSigns.find(c) != std::string_view::npos) {
    return false;
  }
  return (c != '-' && c != '?' && c != ':') ||
         !(at.SpaceAt(1) || (in_flow && YamlCursor::IsFlowSign(at.Peek(1))));
}

std::string ReadPlain(YamlCursor& at, const YamlContext& context) {
  std::string text(PlainLine(at, context.in_flow));
  while (!context.one_line && at.Peek() == '\n') {
    YamlCursor next = at;
    const std::size_t breaks = SkipToText(next);
    if (breaks == 0 || next.AtMarker() || next.Indentation() <= context.indent ||
        AtPlainEnd(next, context.in_flow)) {
      break;
    }
    at = next;
    Fold(breaks, text);
    text += PlainLine(at, context.in_flow);
  }
  return text;
}

std::optional<std::string> ReadSingleQuoted(YamlCursor& at, const YamlContext& context,
                                            YamlFault& fault) {
  const YamlCursor begin = at;
  std::string text;
  at.Advance();
  while (!at.at_end()) {
    const char c = at.Peek();
    if (c == '\n') {
      text.erase(text.find_last_not_of(" \t") + 1);
      if (!FoldQuoted(at, context, text, fault)) {
        return std::nullopt;
      }
      continue;
    }
    at.Advance();
    if (c == '\'') {
      if (at.Peek() != '\'') {
        return text;
      }
      at.Advance();
    }
    text += c;
  }
  fault = FaultAt(begin, "this single quote is never closed");
  return std::nullopt;
}

std::optional<std::string> ReadDoubleQuoted(YamlCursor& at, const YamlContext& context,
                                            YamlFault& fault) {
  const YamlCursor begin = at;
  std::string text;
  std::size_t kept = 0;  // Blanks before here were escaped, or begin a line.
  at.Advance();
  while (!at.at_end()) {
    const char c = at.Peek();
    if (c == '"') {
      at.Advance();
      return text;
    }
    if (c == '\n') {
      const std::size_t end = text.find_last_not_of(" \t") + 1;
      text.erase(std::max(end, kept));
      if (!FoldQuoted(at, context, text, fault)) {
        return std::nullopt;
      }
      kept = text.size();
    } else if (c != '\\') {
      text += c;
      at.Advance();
    } else if (at.Peek(1) == '\n') {
      // The line break is no part of the text; those after it are.
      at.Advance();
      std::string more;
      if (!FoldQuoted(at, context, more, fault)) {
        return std::nullopt;
      }
      text += more == " " ? "" : more;
      kept = text.size();
    } else if (at.Peek(1) == '\0') {
      break;
    } else if (ReadEscape(at, text, fault)) {
      kept = text.size();
    } else {
      return std::nullopt;
    }
  }
  fault = FaultAt(begin, "this double quote is never closed");
  return std::nullopt;
}

std::optional<std::string> ReadBlockScalar(YamlCursor& at, int indent, YamlFault& fault) {
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
  std::size_t breaks = 0;  // Behind the last line of text.
  bool has_text = false;
  bool was_indented = false;  // The last line of text began with a blank: it is not folded.
  while (at.Peek() == '\n') {
    YamlCursor line = at;
    line.NextLine();
    line.SkipSpaces(width);
    if (line.AtBreakOrEnd()) {
      ++breaks;
      at = line;
      continue;
    }
    YamlCursor line_begin = at;
    line_begin.NextLine();
    if (line.column() < width && line.Peek() == '\t') {
      fault = FaultAt(line, "a tab stands before a line of the text of | or >: write spaces");
      return std::nullopt;
    }
    if (line.column() < width || line_begin.AtMarker()) {
      break;
    }
    ++breaks;
    const bool is_indented = YamlCursor::IsBlank(line.Peek());
    if (!has_text) {
      text.append(breaks - 1, '\n');
    } else if (folded && !is_indented && !was_indented) {
      Fold(breaks, text);
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
  breaks += at.Peek() == '\n' ? 1 : 0;  // That of the line that was read last.
  if (header.chomp == '+') {
    text.append(breaks - (has_text || breaks == 0 ? 0 : 1), '\n');
  } else if (header.chomp == ' ' && has_text && breaks > 0) {
    text += '\n';
  }
  return text;
}

}  // namespace sluice::rules
