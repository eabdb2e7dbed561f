#include "yaml/scalar.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace sluice::yaml {

namespace {

// Whether a ':' here ends a plain scalar.
bool AtPlainEnd(const Cursor& at, bool in_flow) {
  const char c = at.Peek();
  return (c == ':' && (at.SpaceAt(1) || (in_flow && Cursor::IsFlowSign(at.Peek(1))))) ||
         at.AtComment() || (in_flow && Cursor::IsFlowSign(c));
}

// The text of this line, without trailing blanks.
std::string_view PlainLine(Cursor& at, bool in_flow) {
  const std::size_t begin = at.position();
  std::size_t end = begin;
  while (!at.AtBreakOrEnd() && !AtPlainEnd(at, in_flow)) {
    const bool blank = Cursor::IsBlank(at.Peek());
    at.Advance();
    end = blank ? end : at.position();
  }
  return at.From(begin).substr(0, end - begin);
}

// Moves from the end of a line to the next line with text, and returns the line breaks in between;
// 0 if there is no more text.
std::size_t SkipToText(Cursor& at) {
  std::size_t breaks = 0;
  while (at.Peek() == '\n') {
    at.NextLine();
    at.SkipBlanks();
    ++breaks;
  }
  return at.at_end() ? 0 : breaks;
}

// The same within quotes; false if the scalar cannot continue.
bool FoldQuoted(Cursor& at, const Context& context, std::string& text, Fault& fault) {
  const std::size_t breaks = SkipToText(at);
  if (breaks == 0) {
    return true;  // The end, which the caller reports.
  }
  if (at.column() == 0 && at.AtMarker()) {
    fault = FaultAt(at, "the document ends within quotes: a closing quote is missing");
    return false;
  }
  if (!GoesOnHere(at, context)) {
    fault = FaultAt(at, "this line belongs to a text in quotes: indent it more than its key");
    return false;
  }
  FoldLines(breaks, text);
  return true;
}

}  // namespace

bool CanBeginPlain(const Cursor& at, bool in_flow) {
  constexpr std::string_view kSigns = ",[]{}#&*!|>'\"%@`";
  const char c = at.Peek();
  if (at.SpaceAt(0) || kSigns.find(c) != std::string_view::npos) {
    return false;
  }
  return (c != '-' && c != '?' && c != ':') ||
         !(at.SpaceAt(1) || (in_flow && Cursor::IsFlowSign(at.Peek(1))));
}

std::string ReadPlain(Cursor& at, const Context& context) {
  std::string text(PlainLine(at, context.in_flow));
  while (!context.one_line && at.Peek() == '\n') {
    Cursor next = at;
    const std::size_t breaks = SkipToText(next);
    if (breaks == 0 || next.AtMarker() || next.Indentation() <= context.indent ||
        AtPlainEnd(next, context.in_flow)) {
      break;
    }
    at = next;
    FoldLines(breaks, text);
    text += PlainLine(at, context.in_flow);
  }
  return text;
}

std::optional<std::string> ReadSingleQuoted(Cursor& at, const Context& context, Fault& fault) {
  const Cursor begin = at;
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

std::optional<std::string> ReadDoubleQuoted(Cursor& at, const Context& context, Fault& fault) {
  const Cursor begin = at;
  std::string text;
  std::size_t kept = 0;  // Blanks before this position were escaped, or begin a line.
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
      // This line break is not part of the text; those after it are.
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

}  // namespace sluice::yaml
